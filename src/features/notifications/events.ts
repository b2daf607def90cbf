import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../lib/limits.ts";
import { EXAMPLE_ID, Identifier } from "../../lib/schemas.ts";
import { ACTIONS, RECORD_TYPES } from "../changelog/model.ts";
import { FAILURES, STACK_STATUSES, type StackStatus } from "../deployments/lifecycle.ts";

const ID = EXAMPLE_ID;

const NamedRecord = z.object({ id: Identifier, name: z.string() }).openapi("NamedRecord");
const PROJECT = { id: ID, name: "storefront" };
const ENVIRONMENT = { id: ID, name: "production" };
const STACK = { id: ID, name: "api-production" };

const location = { project: NamedRecord, environment: NamedRecord };
const LOCATION = { project: PROJECT, environment: ENVIRONMENT };

function deploymentData<const Status extends string>(status: Status) {
  return z.object({
    deployment_id: Identifier,
    status: z.literal(status),
    failure_reason: z
      .string()
      .optional()
      .openapi({
        description: `Why it failed: the runner's reason, or one of ${Object.values(FAILURES).join(", ")}.`,
      }),
    ...location,
    stacks: z
      .array(z.object({ id: Identifier, name: z.string(), status: z.enum(STACK_STATUSES) }))
      .openapi({ description: `The first ${LIMITS.deploymentEventStacks.value} of its stacks.` }),
  });
}

function deploymentExample<const Status extends string>(status: Status, ofStack: StackStatus) {
  return { deployment_id: ID, status, ...LOCATION, stacks: [{ ...STACK, status: ofStack }] };
}

function alarmData<const State extends string>(state: State) {
  return z.object({
    stack_id: Identifier,
    name: z.string().openapi({ description: "The name of the alarm in its stack." }),
    state: z.literal(state),
    reason: z.string().optional(),
    ...location,
    stack: NamedRecord,
  });
}

function alarmExample<const State extends string>(state: State, reason: string) {
  return { stack_id: ID, name: "latency", state, reason, ...LOCATION, stack: STACK };
}

const ChangelogEntry = z.object({
  changelog_id: Identifier.openapi({
    description: "The ID of the entry in the project's changelog.",
  }),
  action: z.enum(ACTIONS),
  record: z.object({
    type: z.enum(RECORD_TYPES),
    id: Identifier,
    name: z
      .string()
      .optional()
      .openapi({ description: `Its first ${LIMITS.changelogEventName.value} characters.` }),
  }),
});

const CHANGE = {
  changelog_id: ID,
  action: "updated" as const,
  record: { type: "environment" as const, ...ENVIRONMENT },
};

interface EventDefinition<Kind extends string | undefined, Data extends z.ZodType> {
  /** A ping has none: it is sent on request. */
  kind: Kind;
  /** Of the Slack message. */
  title: string;
  /** Of the webhook in the OpenAPI document. */
  summary: string;
  data: Data;
  example: z.output<Data>;
}

function define<const Kind extends string | undefined, Data extends z.ZodType>(
  definition: EventDefinition<Kind, Data>,
): EventDefinition<Kind, Data> {
  return definition;
}

/** SQL in the stores of other features writes the data. */
export const EVENTS = {
  ping: define({
    kind: undefined,
    title: "👋 Ping",
    summary: "Somebody pings the integration",
    data: z.object({ integration_id: Identifier }),
    example: { integration_id: ID },
  }),
  "deployments.in_progress": define({
    kind: "deployments_in_progress",
    title: "🚀 Deployment in progress",
    summary: "A deployment has started",
    data: deploymentData("in_progress"),
    example: deploymentExample("in_progress", "pending"),
  }),
  "deployments.succeeded": define({
    kind: "deployments_succeeded",
    title: "✅ Deployment succeeded",
    summary: "A deployment has succeeded",
    data: deploymentData("succeeded"),
    example: deploymentExample("succeeded", "succeeded"),
  }),
  "deployments.failed": define({
    kind: "deployments_failed",
    title: "❌ Deployment failed",
    summary: "A deployment has failed",
    data: deploymentData("failed"),
    example: {
      deployment_id: ID,
      status: "failed",
      failure_reason: FAILURES.stackFailed,
      ...LOCATION,
      stacks: [{ ...STACK, status: "failed" }],
    },
  }),
  "promotions.created": define({
    kind: "promotions",
    title: "⏫ Promotion",
    summary: "A deployment is promoted to another environment",
    data: z.object({
      deployment_id: Identifier.openapi({ description: "The new deployment." }),
      from_deployment_id: Identifier.openapi({ description: "The deployment that is promoted." }),
      project: NamedRecord,
      environment: NamedRecord.openapi({ description: "The target environment." }),
      from_environment: NamedRecord,
    }),
    example: {
      deployment_id: ID,
      from_deployment_id: ID,
      ...LOCATION,
      from_environment: { id: ID, name: "staging" },
    },
  }),
  "services.in_alarm": define({
    kind: "services_in_alarm",
    title: "🚨 Service in alarm",
    summary: "An alarm of a stack has gone off",
    data: alarmData("alarm"),
    example: alarmExample("alarm", "p99 over 2 s for 5 minutes"),
  }),
  "services.ok": define({
    kind: "services_ok",
    title: "✅ Service OK",
    summary: "An alarm of a stack has ended",
    data: alarmData("ok"),
    example: alarmExample("ok", "p99 back under 2 s"),
  }),
  "changelog.created": define({
    kind: "changelog",
    title: "📝 Change",
    summary: "A request has changed the project",
    // The first entry is at the top level too: receivers from before `entries` read it there.
    data: ChangelogEntry.extend({
      account_id: Identifier.optional().openapi({
        description: "The account that made the change; absent if Longshore made it by itself.",
      }),
      entries: z.array(ChangelogEntry).openapi({
        description:
          `The first ${LIMITS.changelogEventEntries.value} changes of the request. The first of ` +
          "them is at the top level too.",
      }),
      count: z.int().openapi({
        description: "How many changes the request made. The project's changelog has all of them.",
      }),
    }),
    example: { ...CHANGE, account_id: ID, entries: [CHANGE], count: 1 },
  }),
};

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]];

export type EventData<Type extends EventType> = z.output<(typeof EVENTS)[Type]["data"]>;

export type Kind = NonNullable<(typeof EVENTS)[EventType]["kind"]>;

/** In the order in which the API presents the flags. A test verifies that none is missing. */
export const KINDS = [
  "deployments_failed",
  "deployments_in_progress",
  "deployments_succeeded",
  "changelog",
  "promotions",
  "services_in_alarm",
  "services_ok",
] as const satisfies readonly Kind[];

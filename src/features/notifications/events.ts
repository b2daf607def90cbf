import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import { component, identifierOf, timestampOf } from "../../lib/schemas.ts";
import { ChangeAction, ChangedRecordType } from "../changelog/model.ts";
import { FAILURES, type StackStatus, StackStatusName } from "../deployments/lifecycle.ts";

const recordOf = (kind: "project" | "environment" | "stack", name: string) =>
  component(
    `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Reference`,
    z
      .object({
        id: identifierOf(kind, `Read it with \`GET /v1/${kind}s/{${kind}_id}\`.`),
        name: z
          .string()
          .openapi({ description: "Its name when the event happened.", example: name }),
      })
      .openapi({ description: `The ${kind}, as far as the event names it.` }),
  );

const PROJECT = { id: EXAMPLE_IDS.project, name: "storefront" };
const ENVIRONMENT = { id: EXAMPLE_IDS.environment, name: "production" };
const STAGING = { id: EXAMPLE_IDS.stagingEnvironment, name: "staging" };
const STACK = { id: EXAMPLE_IDS.stack, name: "api-production" };

const Project = recordOf("project", PROJECT.name);
const Environment = recordOf("environment", ENVIRONMENT.name);
const Stack = recordOf("stack", STACK.name);

const location = { project: Project, environment: Environment };
const LOCATION = { project: PROJECT, environment: ENVIRONMENT };

const DeployedStack = component(
  "DeployedStack",
  z
    .object({
      id: identifierOf("stack", "Read it with `GET /v1/stacks/{stack_id}`."),
      name: z
        .string()
        .openapi({ description: "Its name when the event happened.", example: STACK.name }),
      status: StackStatusName,
    })
    .openapi({ description: "What the deployment has done to one of its stacks so far." }),
);

function deploymentData<const Status extends string>(status: Status) {
  return z.object({
    deployment_id: identifierOf(
      "deployment",
      "Read it with `GET /v1/deployments/{deployment_id}`.",
    ),
    status: z.literal(status).openapi({ description: "The status at the time of the event." }),
    failure_reason: z
      .string()
      .optional()
      .openapi({
        description:
          `Why it failed: the runner's reason, or one of ${Object.values(FAILURES).join(", ")}. ` +
          "Absent unless it has failed for a stated reason.",
      }),
    ...location,
    stacks: z
      .array(DeployedStack)
      .openapi({ description: `The first ${LIMITS.deploymentEventStacks.value} of its stacks.` }),
  });
}

function deploymentExample<const Status extends string>(status: Status, ofStack: StackStatus) {
  const stacks = [{ ...STACK, status: ofStack }];
  return { deployment_id: EXAMPLE_IDS.deployment, status, ...LOCATION, stacks };
}

function alarmData<const State extends string>(state: State) {
  return z.object({
    stack_id: identifierOf("stack", "The stack that the alarm watches."),
    name: z.string().openapi({ description: "The name of the alarm in its stack." }),
    state: z.literal(state).openapi({ description: "The new state of the alarm." }),
    reason: z.string().optional().openapi({
      description: "Why the alarm is in this state. Absent if the report gave none.",
    }),
    ...location,
    stack: Stack,
  });
}

function alarmExample<const State extends string>(state: State, reason: string) {
  const stack = { stack_id: EXAMPLE_IDS.stack, stack: STACK };
  return { name: "latency", state, reason, ...LOCATION, ...stack };
}

const ChangelogEntry = z.object({
  changelog_id: identifierOf("changelogEntry", "The ID of the entry in the project's changelog."),
  action: ChangeAction,
  record: z
    .object({
      type: ChangedRecordType,
      id: identifierOf(
        "environment",
        "The ID of the changed record. For a project member, that of the membership.",
      ),
      name: z
        .string()
        .optional()
        .openapi({
          description:
            `The first ${LIMITS.changelogEventName.value} characters of its name. Absent if it has ` +
            "none.",
        }),
    })
    .openapi({ description: "The changed record. It may be deleted by now." }),
});

const ChangeOfEvent = component(
  "ChangelogEventEntry",
  ChangelogEntry.openapi({ description: "One change that a request made." }),
);

const CHANGE = {
  changelog_id: EXAMPLE_IDS.changelogEntry,
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
    data: z.object({
      integration_id: identifierOf("integration", "The integration that is pinged."),
    }),
    example: { integration_id: EXAMPLE_IDS.integration },
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
      ...deploymentExample("failed", "failed"),
      failure_reason: FAILURES.stackFailed,
    },
  }),
  "promotions.created": define({
    kind: "promotions",
    title: "⏫ Promotion",
    summary: "A deployment is promoted to another environment",
    data: z.object({
      deployment_id: identifierOf("deployment", "The new deployment, in the target environment."),
      from_deployment_id: identifierOf("stagingDeployment", "The deployment that is promoted."),
      project: Project,
      environment: Environment.openapi({ description: "The environment to deploy." }),
      from_environment: Environment.openapi({
        description: "The environment of the promoted deployment.",
        example: STAGING,
      }),
    }),
    example: {
      deployment_id: EXAMPLE_IDS.deployment,
      from_deployment_id: EXAMPLE_IDS.stagingDeployment,
      ...LOCATION,
      from_environment: STAGING,
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
      account_id: identifierOf(
        "account",
        "Who made the change. Absent if the service made it by itself.",
      ).optional(),
      membership_id: identifierOf(
        "membership",
        "The membership of the person or the program that made the change. Absent as `account_id`.",
      ).optional(),
      key_id: identifierOf(
        "apiKey",
        "The API key that sent the request. Absent as `account_id`.",
      ).optional(),
      entries: z.array(ChangeOfEvent).openapi({
        description:
          `The first ${LIMITS.changelogEventEntries.value} changes of the request. The first of ` +
          "them is at the top level too.",
      }),
      count: z.int().openapi({
        description: "How many changes the request made. The project's changelog has all of them.",
      }),
    }),
    example: {
      ...CHANGE,
      account_id: EXAMPLE_IDS.account,
      membership_id: EXAMPLE_IDS.membership,
      key_id: EXAMPLE_IDS.apiKey,
      entries: [CHANGE],
      count: 1,
    },
  }),
};

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]];

export const EventTypeName = component(
  "EventType",
  z.enum(EVENT_TYPES).openapi({ description: "What happened. Webhooks describes each type." }),
);

/** The body of each event, as a component. */
export const EVENT_PAYLOADS = Object.entries(EVENTS).map(([type, { summary, data, example }]) => {
  const name = pascalCase(type);
  const timestamp = "2026-11-21T09:30:00.000Z";
  const schema = component(
    `${name}Event`,
    z
      .object({
        id: identifierOf("event", "The ID of the event, as in `webhook-id`."),
        type: z
          .literal(type as EventType)
          .openapi({ description: "What happened. Determines the fields of `data`." }),
        timestamp: timestampOf("When the event happened."),
        data: data.openapi({ description: "The records concerned, as they were at that time." }),
      })
      .openapi({
        description: `${summary}.`,
        example: { id: EXAMPLE_IDS.event, type, timestamp, data: example },
      }),
  );
  return { type, name, summary, schema };
});

export const EventPayload = component(
  "EventPayload",
  z.union(EVENT_PAYLOADS.map(({ schema }) => schema)).openapi({
    description: "The body that is sent to a webhook. Its `type` determines the fields of `data`.",
    discriminator: {
      propertyName: "type",
      mapping: Object.fromEntries(
        EVENT_PAYLOADS.map(({ type, name }) => [type, `#/components/schemas/${name}Event`]),
      ),
    },
  }),
);

/** `DeploymentsInProgress` for `deployments.in_progress`. */
function pascalCase(type: string): string {
  return `_${type}`.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
}

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

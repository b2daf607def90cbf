import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../lib/limits.ts";
import { EXAMPLE_ID, Identifier, Timestamp } from "../../lib/schemas.ts";
import { ACTIONS, RECORD_TYPES } from "../changelog/index.ts";
import { FAILURES, STACK_STATUSES } from "../deployments/index.ts";
import type { EventType } from "./kinds.ts";

const ID = EXAMPLE_ID;

/** What an event says of a record that it tells of. */
const Named = z.object({ id: Identifier, name: z.string() }).openapi("NamedRecord");
const PROJECT = { id: ID, name: "storefront" };
const ENVIRONMENT = { id: ID, name: "production" };

const place = { project: Named, environment: Named };
const PLACE = { project: PROJECT, environment: ENVIRONMENT };

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
    ...place,
    stacks: z
      .array(z.object({ id: Identifier, name: z.string(), status: z.enum(STACK_STATUSES) }))
      .openapi({ description: `The first ${LIMITS.deploymentEventStacks.value} of its stacks.` }),
  });
}

const deploymentExample = (status: string, ofStack: string, fields = {}) => ({
  deployment_id: ID,
  status,
  ...fields,
  ...PLACE,
  stacks: [{ id: ID, name: "api-production", status: ofStack }],
});

const Promotion = z.object({
  deployment_id: Identifier.openapi({ description: "The new deployment." }),
  from_deployment_id: Identifier.openapi({ description: "The one that was promoted." }),
  project: Named,
  environment: Named.openapi({ description: "Where it is promoted to." }),
  from_environment: Named,
});

function alarmData<const State extends string>(state: State) {
  return z.object({
    stack_id: Identifier,
    name: z.string().openapi({ description: "Of the alarm, in its stack." }),
    state: z.literal(state),
    reason: z.string().optional(),
    ...place,
    stack: Named,
  });
}

const alarmExample = (state: string, reason: string) => ({
  stack_id: ID,
  name: "latency",
  state,
  reason,
  ...PLACE,
  stack: { id: ID, name: "api-production" },
});

const ChangelogEntry = z.object({
  changelog_id: Identifier.openapi({ description: "The entry of the project's changelog." }),
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

/** The first entry is at the top level too: receivers from before `entries` read it there. */
const Changelog = ChangelogEntry.extend({
  account_id: Identifier.optional().openapi({
    description: "Who did it; absent if Longshore did it by itself.",
  }),
  entries: z.array(ChangelogEntry).openapi({
    description:
      `The first ${LIMITS.changelogEventEntries.value} changes of the request; the first of them ` +
      "is at the top level too.",
  }),
  count: z.int().openapi({
    description: "How many changes the request made. The project's changelog has all of them.",
  }),
});

const CHANGE = {
  changelog_id: ID,
  action: "updated",
  record: { type: "environment", ...ENVIRONMENT },
};

interface Event {
  summary: string;
  data: z.ZodType;
  example: object;
}

/** What each type of event tells. */
const EVENTS: Record<EventType, Event> = {
  ping: {
    summary: "Somebody pings the integration",
    data: z.object({ integration_id: Identifier }),
    example: { integration_id: ID },
  },
  "deployments.in_progress": {
    summary: "A deployment has started",
    data: deploymentData("in_progress"),
    example: deploymentExample("in_progress", "pending"),
  },
  "deployments.succeeded": {
    summary: "A deployment has succeeded",
    data: deploymentData("succeeded"),
    example: deploymentExample("succeeded", "succeeded"),
  },
  "deployments.failed": {
    summary: "A deployment has failed",
    data: deploymentData("failed"),
    example: deploymentExample("failed", "failed", { failure_reason: FAILURES.stackFailed }),
  },
  "promotions.created": {
    summary: "A deployment is promoted to another environment",
    data: Promotion,
    example: {
      deployment_id: ID,
      from_deployment_id: ID,
      ...PLACE,
      from_environment: { id: ID, name: "staging" },
    },
  },
  "services.in_alarm": {
    summary: "An alarm of a stack has gone off",
    data: alarmData("alarm"),
    example: alarmExample("alarm", "p99 over 2 s for 5 minutes"),
  },
  "services.ok": {
    summary: "An alarm of a stack has ended",
    data: alarmData("ok"),
    example: alarmExample("ok", "p99 back under 2 s"),
  },
  "changelog.created": {
    summary: "A request has changed the project",
    data: Changelog,
    example: { ...CHANGE, account_id: ID, entries: [CHANGE], count: 1 },
  },
};

/** The body of every type of webhook, with an example. */
export const WEBHOOKS = Object.entries(EVENTS).map(([type, { summary, data, example }]) => {
  const timestamp = "2026-11-21T09:30:00.000Z";
  const body = z
    .object({
      id: Identifier.openapi({ description: "Of the event: the same as `webhook-id`." }),
      type: z.literal(type),
      timestamp: Timestamp.openapi({ description: "When it happened." }),
      data,
    })
    .openapi({ example: { id: ID, type, timestamp, data: example } });
  return { type, summary, body };
});

import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS, exampleId } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { DEPLOYMENT_FAILURES, type StackStatus } from "../../deployments/deployments/lifecycle.ts";
import { Deployment, StackStatusName } from "../../deployments/deployments/schemas.ts";
import {
  CHANGED,
  CHANGED_ID,
  ChangeAction,
  ChangedRecordType,
} from "../../housekeeping/changelog/schemas.ts";
import type { EventType } from "../../housekeeping/outbox/events.ts";

const NAME_AT_EVENT = "Its name when the event happened.";

const resourceOf = (kind: "project" | "environment" | "stack", name: string) =>
  z
    .object({
      id: identifierOf(kind, `Read it with \`GET /v1/${kind}s/{${kind}_id}\`.`),
      name: z.string().openapi({ description: NAME_AT_EVENT, example: name }),
    })
    .openapi(`${kind.charAt(0).toUpperCase()}${kind.slice(1)}Reference`, {
      description: `The ${kind}, as far as the event names it.`,
    });

const PROJECT = { id: EXAMPLE_IDS.project, name: "storefront" };
const ENVIRONMENT = { id: EXAMPLE_IDS.environment, name: "production" };
const STAGING = { id: EXAMPLE_IDS.stagingEnvironment, name: "staging" };
const STACK = { id: EXAMPLE_IDS.stack, name: "api-production" };

const Project = resourceOf("project", PROJECT.name);
const Environment = resourceOf("environment", ENVIRONMENT.name);
const Stack = resourceOf("stack", STACK.name);

const location = { project: Project, environment: Environment };
const LOCATION = { project: PROJECT, environment: ENVIRONMENT };

const DeployedStack = z
  .object({
    id: identifierOf("stack", "Read it with `GET /v1/stacks/{stack_id}`."),
    name: z.string().openapi({ description: NAME_AT_EVENT, example: STACK.name }),
    status: StackStatusName,
  })
  .openapi("DeployedStack", {
    description: "What the deployment has done to one of its stacks so far.",
  });

const DeployedOutput = z
  .object({
    stack_id: identifierOf("stack", "The stack that has it."),
    name: z
      .string()
      .openapi({ description: "`url` is where people open what was deployed.", example: "url" }),
    value: z.string().openapi({ description: "Not secret.", example: "https://shop.example.com" }),
  })
  .openapi("DeployedOutput", { description: "An output of a stack that was deployed." });

const CREATOR = { type: "person" as const, membership_id: EXAMPLE_IDS.membership };

const EventCreator = Deployment.shape.created_by
  .unwrap()
  .pick({ type: true, membership_id: true, trust_id: true })
  .openapi("EventCreator", {
    description:
      "Who has created the deployment, whose name `GET /v1/deployments/{deployment_id}` has. Absent if " +
      "it is unknown.",
    example: CREATOR,
  });

const OUTPUTS = [{ stack_id: STACK.id, name: "url", value: "https://shop.example.com" }];

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
          `Why it failed: the runner's reason, or one of ${Object.values(DEPLOYMENT_FAILURES).join(", ")}. ` +
          "Absent unless it has failed for a stated reason.",
      }),
    created_by: EventCreator.optional(),
    reason: z
      .string()
      .optional()
      .openapi({
        description: `The first ${LIMITS.deploymentEventReasonLength.value} characters of the deployment's.`,
        example: "More traffic",
      }),
    trigger: Deployment.shape.trigger,
    queued_seconds: Deployment.shape.queued_seconds,
    run_seconds: Deployment.shape.run_seconds,
    ...location,
    stacks: z
      .array(DeployedStack)
      .openapi({ description: `The first ${LIMITS.deploymentEventStacks.value} of its stacks.` }),
  });
}

function deploymentExample<const Status extends string>(status: Status, ofStack: StackStatus) {
  const stacks = [{ ...STACK, status: ofStack }];
  const why = { created_by: CREATOR, reason: "More traffic", trigger: "api" as const };
  const times = { queued_seconds: 4, ...(status !== "in_progress" && { run_seconds: 42 }) };
  return { deployment_id: EXAMPLE_IDS.deployment, status, ...why, ...times, ...LOCATION, stacks };
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
      id: identifierOf("environment", CHANGED_ID),
      name: z
        .string()
        .optional()
        .openapi({
          description:
            `The first ${LIMITS.changelogEventName.value} characters of its name. Absent if it has ` +
            "none.",
        }),
    })
    .openapi({ description: CHANGED }),
});

const ChangeOfEvent = ChangelogEntry.openapi("ChangelogEventEntry", {
  description: "One change that a request made.",
});

const CHANGE = {
  changelog_id: EXAMPLE_IDS.changelogEntry,
  action: "updated" as const,
  record: { type: "environment" as const, ...ENVIRONMENT },
};

const HELD = {
  deployment_id: identifierOf("deployment", "Read it with `GET /v1/deployments/{deployment_id}`."),
};
const HELD_EXAMPLE = { deployment_id: EXAMPLE_IDS.deployment, ...LOCATION };

function decisionData(what: string) {
  return z.object({
    ...HELD,
    ...location,
    membership_id: identifierOf("membership", `Who has ${what} it.`),
    comment: z
      .string()
      .optional()
      .openapi({ description: "What the person wrote. Absent if nothing." }),
  });
}

const decisionExample = (comment: string) => ({
  ...HELD_EXAMPLE,
  membership_id: EXAMPLE_IDS.membership,
  comment,
});

function freezeData(what: string) {
  return z.object({
    freeze_id: identifierOf("freeze", "Read it with `GET /v1/freezes/{freeze_id}`."),
    name: z.string().openapi({ description: "What people call it." }),
    reason: z.string().openapi({ description: "Why nothing is deployed." }),
    starts_at: timestampOf("From then on, nothing starts."),
    ends_at: timestampOf("From then on, deployments start again."),
    membership_id: identifierOf("membership", `Who has ${what} it.`),
    project: Project,
    environment_ids: identifiersOf("environment")
      .optional()
      .openapi({ description: "The environments of the project. Absent: all." }),
  });
}

const FREEZE = {
  freeze_id: exampleId("freeze"),
  name: "Black Friday",
  reason: "The busiest days of the year",
  starts_at: "2026-11-26T00:00:00.000Z",
  ends_at: "2026-11-30T00:00:00.000Z",
  membership_id: EXAMPLE_IDS.membership,
  project: PROJECT,
};

interface PayloadDefinition<Data extends z.ZodType> {
  /** Of the webhook in the OpenAPI document. */
  summary: string;
  data: Data;
  example: z.output<Data>;
}

function define<Data extends z.ZodType>(
  definition: PayloadDefinition<Data>,
): PayloadDefinition<Data> {
  return definition;
}

/** The bodies of the events. Only the OpenAPI document has them at run time. */
export const PAYLOADS = {
  ping: define({
    summary: "Somebody pings the integration",
    data: z.object({
      integration_id: identifierOf("integration", "The integration that is pinged."),
    }),
    example: { integration_id: EXAMPLE_IDS.integration },
  }),
  "deployments.in_progress": define({
    summary: "A deployment has started",
    data: deploymentData("in_progress"),
    example: deploymentExample("in_progress", "pending"),
  }),
  "deployments.succeeded": define({
    summary: "A deployment has succeeded",
    data: deploymentData("succeeded").extend({
      outputs: z
        .array(DeployedOutput)
        .optional()
        .openapi({
          description:
            `The outputs of its first ${LIMITS.deploymentEventStacks.value} stacks, each \`url\` before all ` +
            `others, up to ${sizeOf(LIMITS.deploymentEventOutputBytes.value)} as JSON. Absent: there are none.`,
        }),
    }),
    example: { ...deploymentExample("succeeded", "succeeded"), outputs: OUTPUTS },
  }),
  "deployments.failed": define({
    summary: "A deployment has failed",
    data: deploymentData("failed"),
    example: {
      ...deploymentExample("failed", "failed"),
      failure_reason: DEPLOYMENT_FAILURES.stackFailed,
    },
  }),
  "promotions.created": define({
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
  "approvals.requested": define({
    summary: "A deployment waits for approvals",
    data: z.object({
      ...HELD,
      ...location,
      message: z.string().openapi({ description: "Which approvals are missing, for people." }),
      expires_at: timestampOf("When the deployment is canceled unless it has them."),
    }),
    example: {
      ...HELD_EXAMPLE,
      message: "0 of 1 approval by owners of the project and admins of the organization.",
      expires_at: "2026-11-22T09:30:00.000Z",
    },
  }),
  "approvals.given": define({
    summary: "Somebody has approved a deployment",
    data: decisionData("approved"),
    example: decisionExample("Looks good"),
  }),
  "approvals.rejected": define({
    summary: "Somebody has rejected a deployment",
    data: decisionData("rejected"),
    example: decisionExample("Not on a Friday"),
  }),
  "deployments.overridden": define({
    summary: "Somebody lets a deployment start in spite of rules",
    data: z.object({
      ...HELD,
      ...location,
      membership_id: identifierOf("membership", "Who has overridden them."),
      reason: z.string().openapi({ description: "What the person wrote." }),
      conditions: Deployment.shape.overridden.unwrap().shape.conditions,
    }),
    example: {
      ...HELD_EXAMPLE,
      membership_id: EXAMPLE_IDS.membership,
      reason: "Restores the checkout",
      conditions: ["freeze"],
    },
  }),
  "freezes.created": define({
    summary: "Somebody has created a freeze",
    data: freezeData("created"),
    example: FREEZE,
  }),
  "freezes.deleted": define({
    summary: "Somebody has deleted a freeze",
    data: freezeData("deleted"),
    example: FREEZE,
  }),
  "services.in_alarm": define({
    summary: "An alarm of a stack has gone off",
    data: alarmData("alarm"),
    example: alarmExample("alarm", "p99 over 2 s for 5 minutes"),
  }),
  "services.ok": define({
    summary: "An alarm of a stack has ended",
    data: alarmData("ok"),
    example: alarmExample("ok", "p99 back under 2 s"),
  }),
  "changelog.created": define({
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
} satisfies Record<EventType, unknown>;

/** The body of each event, as a component. */
export const EVENT_PAYLOADS = Object.entries(PAYLOADS).map(([type, { summary, data, example }]) => {
  const name = pascalCase(type);
  const timestamp = "2026-11-21T09:30:00.000Z";
  const schema = z
    .object({
      id: identifierOf("event", "The ID of the event, as in `webhook-id`."),
      type: z
        .literal(type as EventType)
        .openapi({ description: "What happened. Determines the fields of `data`." }),
      timestamp: timestampOf("When the event happened."),
      data: data.openapi({ description: "The resources concerned, as they were at that time." }),
    })
    .openapi(`${name}Event`, {
      description: `${summary}.`,
      example: { id: EXAMPLE_IDS.event, type, timestamp, data: example },
    });
  return { type, name, summary, schema };
});

export const EventPayload = z
  .union(EVENT_PAYLOADS.map(({ schema }) => schema))
  .openapi("EventPayload", {
    description: "The body that is sent to a webhook. Its `type` determines the fields of `data`.",
    discriminator: {
      propertyName: "type",
      mapping: Object.fromEntries(
        EVENT_PAYLOADS.map(({ type, name }) => [type, `#/components/schemas/${name}Event`]),
      ),
    },
  });

/** `DeploymentsInProgress` for `deployments.in_progress`. */
function pascalCase(type: string): string {
  return `_${type}`.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
}

export type EventData<Type extends EventType> = z.output<(typeof PAYLOADS)[Type]["data"]>;

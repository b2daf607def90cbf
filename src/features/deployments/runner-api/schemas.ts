import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { textParam } from "../../../http/params.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierInput, identifierOf, nameInput, text } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/schemas.ts";
import { StackOutputs } from "../../projects/stacks/schemas.ts";
import { DELIVERED_VARIABLE } from "../../projects/variables/schemas.ts";
import { Connection } from "../connections/schemas.ts";
import {
  DEPLOYMENT_FAILURES,
  HEARTBEAT_INTERVAL_MS,
  LEASE_TTL_MS,
  LOG_INTERVAL_MS,
  OFFER_TTL_MS,
  START_TRIGGERS,
} from "../deployments/index.ts";
import { Deployment } from "../deployments/schemas.ts";
import { DIRECTIVES } from "./directive.ts";
import { INVALID_URL } from "./outputs.ts";
import { Outcome } from "./report-schemas.ts";

/** The server sends durations, because a runner's clock may be wrong. */
export const INTERVALS = {
  start_within_seconds: OFFER_TTL_MS / 1000,
  heartbeat_every_seconds: HEARTBEAT_INTERVAL_MS / 1000,
  lease_seconds: LEASE_TTL_MS / 1000,
  log_every_seconds: LOG_INTERVAL_MS / 1000,
  log_chunk_bytes: LIMITS.logChunkBytes.value,
  log_bytes: LIMITS.logBytes.value,
};

const RunnerInput = z
  .strictObject({
    name: nameInput(LIMITS.nameLength.value).openapi({
      description: "Of this runner: another one with the same token has another name.",
      example: "builder-1",
    }),
    version: text(LIMITS.nameLength.value)
      .optional()
      .openapi({ description: "The version of its program.", example: "1.4.0" }),
  })
  .openapi("RunnerDescription", {
    description: "What people see of a runner.",
    example: { name: "builder-1", version: "1.4.0" },
  });

export const ClaimInput = z
  .strictObject({
    request_id: text(LIMITS.requestIdLength.value).openapi({
      description: "Generate a new one for each claim. The same ID gives the same attempt.",
      example: "3f6f0c1e-claim-1",
    }),
    deployment_id: identifierInput("deployment")
      .optional()
      .openapi({
        description:
          "Claims this deployment and no other: the reply is 204 until it is its turn, and a " +
          "`conflict` once it has ended.",
      }),
    runner: RunnerInput.optional().openapi({
      description: "Who asks. Absent: people see the token of the runner alone.",
    }),
  })
  .openapi("ClaimInput", {
    description: "A runner's request for its next deployment.",
    example: { request_id: "3f6f0c1e-claim-1" },
  });

export const AttemptParams = z.object(textParam("attempt_id", "attempt", "attempt"));

export const StackOfAttemptParams = AttemptParams.extend(textParam("stack_id", "stack", "stack"));

export const LeaseHeaders = z.object({
  "lease-token": z.string().optional().openapi({
    description: "The `lease_token` of the claim. Without it, the reply is a `conflict`.",
  }),
});

const Intervals = {
  start_within_seconds: z.int().min(0).openapi({
    description: "Seconds from the claim until the offer lapses, unless it is started.",
    example: INTERVALS.start_within_seconds,
  }),
  heartbeat_every_seconds: z.int().min(0).openapi({
    description: "Seconds between two heartbeats of a started attempt.",
    example: INTERVALS.heartbeat_every_seconds,
  }),
  lease_seconds: z.int().min(0).openapi({
    description:
      "Seconds without a heartbeat after which the attempt is stale. It may resume for a while.",
    example: INTERVALS.lease_seconds,
  }),
  log_every_seconds: z.int().min(0).openapi({
    description: "Seconds between two requests with output of the command, while there is any.",
    example: INTERVALS.log_every_seconds,
  }),
  log_chunk_bytes: z.int().openapi({
    description: "The most bytes of the log that one request may have.",
    example: INTERVALS.log_chunk_bytes,
  }),
  log_bytes: z.int().openapi({
    description: "The most bytes of the log that are kept. You may stop sending after them.",
    example: INTERVALS.log_bytes,
  }),
};

export const Claim = z
  .object({
    attempt_id: identifierOf("attempt", "Identifies the attempt in all further calls."),
    epoch: z.int().openapi({
      description: "Increases with each attempt in the environment. Use it as a fencing token.",
      example: 7,
    }),
    lease_token: z.string().openapi({
      description: "Send it in `Lease-Token` with every call about the attempt.",
      example: "6e1f8a53c07b94d2a8e5b1f0c3d97264e50a1b8c7d6f3e29481c5a0b9d8e7f63",
    }),
    deployment: Deployment.openapi({
      description: "The offered deployment. A start may return it with another patch.",
    }),
    variable_names: z.array(z.string()).openapi({
      description: "The names of the variables whose values the runner may read.",
      example: ["DATABASE_URL"],
    }),
    ...Intervals,
  })
  .openapi("Claim", { description: "A deployment that is offered to one runner." });

const StartTrigger = z.enum(START_TRIGGERS).openapi("StartTrigger", {
  description:
    "Which request created a deployment: a new one, or a copy of another. A rollback is a redeployment.",
});

const named = (resource: "project" | "environment" | "component", example: string) =>
  z.object({
    id: identifierOf(resource, `Its own ID, which stays when the ${resource} is renamed.`),
    name: z
      .string()
      .openapi({ description: "As people named it, at the time of the start.", example }),
  });

const StackOfInput = z
  .object({
    id: identifierOf("stack", "The stack's own ID in this service."),
    name: z.string().openapi({ description: "Unique in the environment.", example: "web" }),
    component: named("component", "api").optional().openapi({
      description: "The component that the stack runs. Absent: it runs no single component.",
    }),
    outputs: StackOutputs,
  })
  .openapi("StackOfInput", { description: "A stack to deploy." });

/** What the program that deploys needs. */
const StartInput = z
  .object({
    deployment: z
      .object({
        id: identifierOf(
          "deployment",
          "Identifies what runs, in logs and in the names of what it creates.",
        ),
        patch: Deployment.shape.data.shape.patch,
        source: Deployment.shape.data.shape.source,
        trigger: StartTrigger,
        continue_on_failure: Deployment.shape.continue_on_failure,
      })
      .openapi({ description: "What is deployed." }),
    project: named("project", "shop").openapi({
      description: "What the environment belongs to.",
    }),
    environment: named("environment", "production").openapi({
      description: "Where it is deployed to.",
    }),
    stacks: z.array(StackOfInput).openapi({
      description: "In the order to deploy them: each comes after those that it needs.",
    }),
    needed_stacks: z
      .array(StackOfInput.omit({ component: true }))
      .optional()
      .openapi({
        description:
          "Stacks that are not deployed, but that these need, with the outputs of their last success. Absent: none.",
      }),
    configuration: Environment.shape.configuration.openapi({
      description: "The configuration as this deployment makes it.",
    }),
    connection: Connection.optional().openapi({
      description: "Absent: the project is not connected.",
    }),
  })
  .openapi("StartInput", { description: "What a started deployment deploys, and where." });

const Directive = z.enum(DIRECTIVES).openapi("RunnerDirective", {
  description:
    "`cancel`: a person has canceled the deployment, or the run has exceeded the time of its " +
    "pool. Stop the work, and complete the attempt. `stop`: the attempt is no longer yours. Do " +
    "not change the infrastructure.",
});

export const Progress = z
  .object({ desired: Directive, ...Intervals })
  .openapi("AttemptProgress", { description: "What the runner must do next, and when." });

export const ReportedProgress = Progress.extend({
  warnings: z
    .array(z.string())
    .optional()
    .openapi({
      description: "What the report had that was not stored, and why. Absent: all was stored.",
      example: [INVALID_URL],
    }),
}).openapi("ReportedProgress", {
  description: "What the runner must do next, and what was not stored.",
});

export const StartedAttempt = Progress.extend({
  deployment: Deployment.openapi({
    description: "The deployment to execute. `data.patch` is based on the current configuration.",
  }),
  input: StartInput,
}).openapi("StartedAttempt", {
  description: "The deployment to execute, and what the runner must do next.",
});

export const CompletedAttempt = Progress.extend({
  status: Outcome.openapi({
    description:
      "The final status of the deployment. It may differ from the outcome that you sent.",
  }),
  failure_reason: z
    .string()
    .optional()
    .openapi({
      description:
        `The reason that you sent, or one of ${Object.values(DEPLOYMENT_FAILURES).join(", ")}. Absent ` +
        "unless the deployment has failed.",
      example: DEPLOYMENT_FAILURES.stackFailed,
    }),
}).openapi("CompletedAttempt", { description: "How the deployment ended." });

export const ClaimList = envelopeOf(Claim, "ClaimList");

const DeliveredVariable = z.object(DELIVERED_VARIABLE).openapi("DeliveredVariable", {
  description: "A variable with its value, for the runner of a deployment.",
});

const StackOfVariables = z
  .object({
    stack_id: identifierOf("stack", "One of the stacks that the deployment covers."),
    component_id: identifierOf(
      "component",
      "The component of the stack. Absent: the stack belongs to the environment itself.",
    ).optional(),
  })
  .openapi("StackOfVariables", { description: "Which variables a stack of the deployment gets." });

export const DeliveredVariables = z
  .object({
    variables: z.array(DeliveredVariable).openapi({
      description:
        "The variables of the environment and of its components. Give a stack those without " +
        "`component_id` and, over them, those of its own component, never another's.",
    }),
    stacks: z.array(StackOfVariables).openapi({
      description: "The stacks of the deployment, in its order, each with its component.",
    }),
  })
  .openapi("DeliveredVariables", { description: "The values that a deployment needs." });

import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { textParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { Identifier, line, paragraphs, text, timestampInput } from "../../lib/schemas.ts";
import {
  Deployment,
  FAILURES,
  HEARTBEAT_INTERVAL_MS,
  LEASE_TTL_MS,
  OFFER_TTL_MS,
  OUTCOMES,
  REPORTED_STATUSES,
} from "../deployments/index.ts";
import { ResourceStatus } from "../resources/index.ts";
import { StorageMethodSchema } from "../variables/index.ts";
import { DIRECTIVES } from "./directive.ts";

const MAXIMUM_RESOURCES = LIMITS.reportedResources.value;

/** The server sends durations, because a runner's clock may be wrong. */
export const INTERVALS = {
  start_within_seconds: OFFER_TTL_MS / 1000,
  heartbeat_every_seconds: HEARTBEAT_INTERVAL_MS / 1000,
  lease_seconds: LEASE_TTL_MS / 1000,
};

const Intervals = {
  start_within_seconds: z
    .int()
    .openapi({ description: "After this time, the offer lapses.", example: 60 }),
  heartbeat_every_seconds: z.int().openapi({ example: 15 }),
  lease_seconds: z.int().openapi({
    description: "Without a heartbeat for this time, the attempt is stale. It may resume.",
    example: 60,
  }),
};

export const ClaimInput = z
  .strictObject({
    request_id: text(LIMITS.requestIdLength.value).openapi({
      description: "Generate a new one for each claim. The same ID gives the same attempt.",
    }),
  })
  .openapi("ClaimInput", { example: { request_id: "3f6f0c1e-claim-1" } });

export const Claim = z
  .object({
    attempt_id: Identifier,
    epoch: z.int().openapi({ description: "Increases with each attempt in the environment." }),
    lease_token: z
      .string()
      .openapi({ description: "Send it in `Lease-Token` with every call about the attempt." }),
    deployment: Deployment,
    variable_names: z.array(z.string()),
    ...Intervals,
  })
  .openapi("Claim");

export const Progress = z
  .object({
    desired: z.enum(DIRECTIVES).openapi({
      description:
        "`cancel`: a person has canceled the deployment, or the run has exceeded the time of its " +
        "pool. Stop the work, and complete the attempt. `stop`: the attempt is no longer yours. Do " +
        "not change the infrastructure.",
    }),
    ...Intervals,
  })
  .openapi("AttemptProgress");

export const StartedAttempt = Progress.extend({
  deployment: Deployment.openapi({
    description: "The deployment to execute. `data.patch` is based on the current configuration.",
  }),
}).openapi("StartedAttempt");

export const CompletedAttempt = Progress.extend({
  status: z.enum(OUTCOMES).openapi({
    description:
      "The final status of the deployment. It may differ from the outcome that you sent.",
  }),
  failure_reason: z
    .string()
    .optional()
    .openapi({
      description: `The reason that you sent, or one of ${Object.values(FAILURES).join(", ")}.`,
    }),
}).openapi("CompletedAttempt");

export const ClaimList = envelopeOf(Claim, "ClaimList");

export const DeliveredVariables = z
  .object({
    variables: z.array(
      z.object({
        name: z.string(),
        storage_method: StorageMethodSchema,
        resource_id: z.string(),
        component_id: Identifier.optional(),
        value: z.string(),
      }),
    ),
  })
  .openapi("DeliveredVariables");

const ReportedResource = z
  .strictObject({
    template_id: text(LIMITS.resourceNameLength.value),
    physical_id: line(LIMITS.physicalIdLength.value),
    resource_type: text(LIMITS.resourceNameLength.value),
    status: ResourceStatus,
    status_reason: paragraphs(LIMITS.statusReasonLength.value).optional(),
    timestamp: timestampInput().optional(),
  })
  .openapi("ReportedResource");

export const StackReport = z
  .strictObject({
    seq: z.int().min(1).openapi({ description: "Increases with each report of the stack." }),
    status: z.enum(REPORTED_STATUSES),
    status_reason: paragraphs(LIMITS.statusReasonLength.value).optional(),
    resources: z
      .array(ReportedResource)
      .max(MAXIMUM_RESOURCES, `Send at most ${MAXIMUM_RESOURCES} resources.`)
      .refine(
        (all) => new Set(all.map((each) => each.template_id)).size === all.length,
        "Send each template_id once.",
      )
      .optional()
      .openapi({
        description: "All resources of the stack. The others are marked DELETE_COMPLETE.",
      }),
  })
  .openapi("StackReport", { example: { seq: 1, status: "in_progress" } });

export const CompletionInput = z
  .strictObject({
    outcome: z.enum(OUTCOMES),
    failure_reason: text(LIMITS.requestIdLength.value).optional(),
    message: paragraphs(LIMITS.statusReasonLength.value).optional(),
  })
  .openapi("AttemptCompletion", { example: { outcome: "succeeded" } });

export const AttemptParams = z.object(textParam("attempt_id", "attempt"));
export const StackOfAttemptParams = AttemptParams.extend(textParam("stack_id", "stack"));
export const LeaseHeaders = z.object({
  "lease-token": z.string().optional().openapi({
    description: "The `lease_token` of the claim. Without it, the reply is a `conflict`.",
  }),
});

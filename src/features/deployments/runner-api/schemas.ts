import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { textParam } from "../../../http/params.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf, sizeOf } from "../../../lib/quantities.ts";
import {
  component,
  identifierInput,
  line,
  nameInput,
  paragraphs,
  text,
  timestampInput,
} from "../../../lib/schemas.ts";
import {
  HEARTBEAT_INTERVAL_MS,
  LEASE_TTL_MS,
  LOG_INTERVAL_MS,
  OFFER_TTL_MS,
  OUTCOMES,
  REPORTED_STATUSES,
} from "../deployments/index.ts";
import { ResourceStatus } from "../resources/index.ts";

const OUTPUT_NAME = new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.outputNameLength.value}}$`);
const MAXIMUM_RESOURCES = LIMITS.reportedResources.value;

/** The server sends durations, because a runner's clock may be wrong. */
export const INTERVALS = {
  start_within_seconds: OFFER_TTL_MS / 1000,
  heartbeat_every_seconds: HEARTBEAT_INTERVAL_MS / 1000,
  lease_seconds: LEASE_TTL_MS / 1000,
  log_every_seconds: LOG_INTERVAL_MS / 1000,
  log_chunk_bytes: LIMITS.logChunkBytes.value,
  log_bytes: LIMITS.logBytes.value,
};

const RunnerInput = component("RunnerDescription", () =>
  z
    .strictObject({
      name: nameInput(LIMITS.nameLength.value).openapi(
        documented(() => ({
          description: "Of this runner: another one with the same token has another name.",
          example: "builder-1",
        })),
      ),
      version: text(LIMITS.nameLength.value)
        .optional()
        .openapi(
          documented(() => ({ description: "The version of its program.", example: "1.4.0" })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "What people see of a runner.",
        example: { name: "builder-1", version: "1.4.0" },
      })),
    ),
);

export const ClaimInput = component("ClaimInput", () =>
  z
    .strictObject({
      request_id: text(LIMITS.requestIdLength.value).openapi(
        documented(() => ({
          description: "Generate a new one for each claim. The same ID gives the same attempt.",
          example: "3f6f0c1e-claim-1",
        })),
      ),
      deployment_id: identifierInput("deployment")
        .optional()
        .openapi(
          documented(() => ({
            description:
              "Claims this deployment and no other: the reply is 204 until it is its turn, and a " +
              "`conflict` once it has ended.",
          })),
        ),
      runner: RunnerInput()
        .optional()
        .openapi(
          documented(() => ({
            description: "Who asks. Absent: people see the token of the runner alone.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "A runner's request for its next deployment.",
        example: { request_id: "3f6f0c1e-claim-1" },
      })),
    ),
);

export const Outcome = component("AttemptOutcome", () =>
  z
    .enum(OUTCOMES)
    .openapi(documented(() => ({ description: "How the work on a deployment ended." }))),
);

const ReportedResource = component("ReportedResource", () =>
  z
    .strictObject({
      template_id: text(LIMITS.resourceNameLength.value).openapi(
        documented(() => ({
          description: "The logical ID in the stack's template. Identifies the resource.",
          example: "Bucket",
        })),
      ),
      physical_id: line(LIMITS.physicalIdLength.value).openapi(
        documented(() => ({
          description: "The ID at the provider. Send an empty text while there is none.",
          example: "shop-bucket-1x2y3z",
        })),
      ),
      resource_type: text(LIMITS.resourceNameLength.value).openapi(
        documented(() => ({
          description: "The provider's name of the type.",
          example: "AWS::S3::Bucket",
        })),
      ),
      status: ResourceStatus(),
      status_reason: paragraphs(LIMITS.statusReasonLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "Why the resource has this status, as the provider states it.",
          })),
        ),
      timestamp: timestampInput()
        .optional()
        .openapi(
          documented(() => ({
            description: "When the provider changed the resource. Default: now.",
            example: "2026-11-21T09:30:00.000Z",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "One resource of a stack at the provider.",
        example: {
          template_id: "Bucket",
          physical_id: "shop-bucket-1x2y3z",
          resource_type: "AWS::S3::Bucket",
          status: "CREATE_COMPLETE",
        },
      })),
    ),
);

const ReportedStatus = component("ReportedStackStatus", () =>
  z.enum(REPORTED_STATUSES).openapi(
    documented(() => ({
      description: "The status of a stack that a runner reports. All but `in_progress` are final.",
    })),
  ),
);

const Output = component("ReportedOutput", () =>
  z
    .strictObject({
      name: z
        .string()
        .regex(OUTPUT_NAME, "Send 1 to 100 letters, digits, and any of . _ -.")
        .openapi(
          documented(() => ({
            description:
              "The name. `url` is where people open what was deployed: an `http` or `https` URL without " +
              "credentials.",
            example: "url",
          })),
        ),
      value: line(LIMITS.outputBytes.value)
        .refine(
          (value) => bytesOf(value) <= LIMITS.outputBytes.value,
          `Send at most ${LIMITS.outputBytes.value} bytes.`,
        )
        .openapi(
          documented(() => ({
            description: `Not secret: everybody who reads the stack sees it. At most ${sizeOf(LIMITS.outputBytes.value)}.`,
            example: "https://shop.example.com",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "A value that a stack gives to people and to later stacks.",
        example: { name: "url", value: "https://shop.example.com" },
      })),
    ),
);

const ReportedResources = lazy(() =>
  z
    .array(ReportedResource())
    .max(MAXIMUM_RESOURCES, `Send at most ${MAXIMUM_RESOURCES} resources.`)
    .refine(
      (all) => new Set(all.map((each) => each.template_id)).size === all.length,
      "Send each template_id once.",
    )
    .optional(),
);

export const StackReport = component("StackReport", () =>
  z
    .strictObject({
      seq: z
        .int()
        .min(1)
        .openapi(
          documented(() => ({
            description: "Increases with each report of the stack. An older report is ignored.",
            example: 1,
          })),
        ),
      status: ReportedStatus(),
      status_reason: paragraphs(LIMITS.statusReasonLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "Why the stack has this status, for people. Absent: no reason is shown.",
          })),
        ),
      resources: ReportedResources().openapi(
        documented(() => ({
          description:
            "All resources of the stack. The others are marked DELETE_COMPLETE. Absent: unchanged.",
        })),
      ),
      changed_resources: ReportedResources().openapi(
        documented(() => ({
          description:
            "Instead of `resources`: those that have changed or are new. The others are unchanged. Not stored if " +
            `more than ${MAXIMUM_RESOURCES} resources of the stack would not be deleted.`,
        })),
      ),
      outputs: z
        .array(Output())
        .max(LIMITS.stackOutputs.value, `Send at most ${LIMITS.stackOutputs.value} outputs.`)
        .refine(
          (all) => new Set(all.map((each) => each.name)).size === all.length,
          "Send each name once.",
        )
        .optional()
        .openapi(
          documented(() => ({
            description:
              "All outputs of the stack. Those of the report of a success are kept, and replace those of the " +
              "success before.",
          })),
        ),
    })
    .refine(
      ({ resources, changed_resources }) => !resources || !changed_resources,
      "Send resources or changed_resources, not both.",
    )
    .openapi(
      documented(() => ({
        description: "The progress of one stack.",
        example: { seq: 1, status: "in_progress" },
      })),
    ),
);

const LogDeclaration = component("LogDeclaration", () =>
  z
    .strictObject({
      size: z
        .int()
        .min(0)
        .openapi(
          documented(() => ({
            description: "All bytes that the command has printed, also those beyond `log_bytes`.",
            example: 5_120,
          })),
        ),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "Send the SHA-256 as 64 lowercase hex digits.")
        .openapi(
          documented(() => ({
            description: "The SHA-256 of these bytes, in hex.",
            example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
          })),
        ),
    })
    .openapi(documented(() => ({ description: "What a runner declares of a log at its end." }))),
);

export const CompletionInput = component("AttemptCompletion", () =>
  z
    .strictObject({
      outcome: Outcome(),
      failure_reason: text(LIMITS.requestIdLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "A short reason for programs, of your choice. Absent: none.",
            example: "build_failed",
          })),
        ),
      message: paragraphs(LIMITS.statusReasonLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "What happened, for people. It becomes the reason of unfinished stacks.",
            example: "The image does not exist.",
          })),
        ),
      log: LogDeclaration()
        .optional()
        .openapi(
          documented(() => ({
            description:
              "The whole log. Bytes of it that are missing are accepted for another " +
              `${durationOf(LIMITS.logSealsMs.value)}. Absent: the log is sealed with the bytes that have arrived.`,
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "How the runner's work ended.",
        example: { outcome: "succeeded" },
      })),
    ),
);

export const AttemptParams = lazy(() => z.object(textParam("attempt_id", "attempt", "attempt")));
export const StackOfAttemptParams = lazy(() =>
  AttemptParams().extend(textParam("stack_id", "stack", "stack")),
);
export const LeaseHeaders = lazy(() =>
  z.object({
    "lease-token": z
      .string()
      .optional()
      .openapi(
        documented(() => ({
          description: "The `lease_token` of the claim. Without it, the reply is a `conflict`.",
        })),
      ),
  }),
);

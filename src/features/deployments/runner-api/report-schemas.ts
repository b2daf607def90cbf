import { z } from "@hono/zod-openapi";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf, sizeOf } from "../../../lib/quantities.ts";
import { line, paragraphs, text, timestampInput } from "../../../lib/schemas.ts";
import { OUTCOMES, REPORTED_STATUSES } from "../deployments/index.ts";
import { ResourceStatus } from "../resources/schemas.ts";

const OUTPUT_NAME = new RegExp(`^[A-Za-z0-9._-]{1,${LIMITS.outputNameLength.value}}$`);

const MAXIMUM_RESOURCES = LIMITS.reportedResources.value;

export const Outcome = z
  .enum(OUTCOMES)
  .openapi("AttemptOutcome", { description: "How the work on a deployment ended." });

const ReportedResource = z
  .strictObject({
    template_id: text(LIMITS.resourceNameLength.value).openapi({
      description: "The logical ID in the stack's template. Identifies the resource.",
      example: "Bucket",
    }),
    physical_id: line(LIMITS.physicalIdLength.value).openapi({
      description: "The ID at the provider. Send an empty text while there is none.",
      example: "shop-bucket-1x2y3z",
    }),
    resource_type: text(LIMITS.resourceNameLength.value).openapi({
      description: "The provider's name of the type.",
      example: "AWS::S3::Bucket",
    }),
    status: ResourceStatus,
    status_reason: paragraphs(LIMITS.statusReasonLength.value).optional().openapi({
      description: "Why the resource has this status, as the provider states it.",
    }),
    timestamp: timestampInput().optional().openapi({
      description: "When the provider changed the resource. Default: now.",
      example: "2026-11-21T09:30:00.000Z",
    }),
  })
  .openapi("ReportedResource", {
    description: "One resource of a stack at the provider.",
    example: {
      template_id: "Bucket",
      physical_id: "shop-bucket-1x2y3z",
      resource_type: "AWS::S3::Bucket",
      status: "CREATE_COMPLETE",
    },
  });

const ReportedStatus = z.enum(REPORTED_STATUSES).openapi("ReportedStackStatus", {
  description: "The status of a stack that a runner reports. All but `in_progress` are final.",
});

const Output = z
  .strictObject({
    name: z
      .string()
      .regex(OUTPUT_NAME, "Send 1 to 100 letters, digits, and any of . _ -.")
      .openapi({
        description:
          "The name. `url` is where people open what was deployed: an `http` or `https` URL without " +
          "credentials.",
        example: "url",
      }),
    value: line(LIMITS.outputBytes.value)
      .refine(
        (value) => bytesOf(value) <= LIMITS.outputBytes.value,
        `Send at most ${LIMITS.outputBytes.value} bytes.`,
      )
      .openapi({
        description: `Not secret: everybody who reads the stack sees it. At most ${sizeOf(LIMITS.outputBytes.value)}.`,
        example: "https://shop.example.com",
      }),
  })
  .openapi("ReportedOutput", {
    description: "A value that a stack gives to people and to later stacks.",
    example: { name: "url", value: "https://shop.example.com" },
  });

const ReportedResources = z
  .array(ReportedResource)
  .max(MAXIMUM_RESOURCES, `Send at most ${MAXIMUM_RESOURCES} resources.`)
  .refine(
    (all) => new Set(all.map((each) => each.template_id)).size === all.length,
    "Send each template_id once.",
  )
  .optional();

export const StackReport = z
  .strictObject({
    seq: z.int().min(1).openapi({
      description: "Increases with each report of the stack. An older report is ignored.",
      example: 1,
    }),
    status: ReportedStatus,
    status_reason: paragraphs(LIMITS.statusReasonLength.value).optional().openapi({
      description: "Why the stack has this status, for people. Absent: no reason is shown.",
    }),
    resources: ReportedResources.openapi({
      description:
        "All resources of the stack. The others are marked DELETE_COMPLETE. Absent: unchanged.",
    }),
    changed_resources: ReportedResources.openapi({
      description:
        "Instead of `resources`: those that have changed or are new. The others are unchanged. Not stored if " +
        `more than ${MAXIMUM_RESOURCES} resources of the stack would not be deleted.`,
    }),
    outputs: z
      .array(Output)
      .max(LIMITS.stackOutputs.value, `Send at most ${LIMITS.stackOutputs.value} outputs.`)
      .refine(
        (all) => new Set(all.map((each) => each.name)).size === all.length,
        "Send each name once.",
      )
      .optional()
      .openapi({
        description:
          "All outputs of the stack. Those of the report of a success are kept, and replace those of the " +
          "success before.",
      }),
  })
  .refine(
    ({ resources, changed_resources }) => !resources || !changed_resources,
    "Send resources or changed_resources, not both.",
  )
  .openapi("StackReport", {
    description: "The progress of one stack.",
    example: { seq: 1, status: "in_progress" },
  });

const LogDeclaration = z
  .strictObject({
    size: z.int().min(0).openapi({
      description: "All bytes that the command has printed, also those beyond `log_bytes`.",
      example: 5_120,
    }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "Send the SHA-256 as 64 lowercase hex digits.")
      .openapi({
        description: "The SHA-256 of these bytes, in hex.",
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      }),
  })
  .openapi("LogDeclaration", { description: "What a runner declares of a log at its end." });

export const CompletionInput = z
  .strictObject({
    outcome: Outcome,
    failure_reason: text(LIMITS.requestIdLength.value).optional().openapi({
      description: "A short reason for programs, of your choice. Absent: none.",
      example: "build_failed",
    }),
    message: paragraphs(LIMITS.statusReasonLength.value).optional().openapi({
      description: "What happened, for people. It becomes the reason of unfinished stacks.",
      example: "The image does not exist.",
    }),
    log: LogDeclaration.optional().openapi({
      description:
        "The whole log. Bytes of it that are missing are accepted for another " +
        `${durationOf(LIMITS.logSealsMs.value)}. Absent: the log is sealed with the bytes that have arrived.`,
    }),
  })
  .openapi("AttemptCompletion", {
    description: "How the runner's work ended.",
    example: { outcome: "succeeded" },
  });

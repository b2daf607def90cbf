import { z } from "@hono/zod-openapi";
import { RefusedSetting } from "../features/housekeeping/health/schemas.ts";
import { ERRORS, type ErrorCode, MAXIMUM_ISSUES, NotFound } from "../lib/errors.ts";
import { EXAMPLE_REQUEST_ID } from "../lib/example-ids.ts";
import { NOT_BLANK } from "../lib/schemas.ts";

const EXAMPLE = new NotFound("project");

export const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

const Code = z.enum(CODES).openapi("ErrorCode", { description: "What went wrong, for programs." });

const Issue = z
  .object({
    path: z.string().openapi({
      description:
        "The field or parameter, separated by dots: `stack_ids.0`. Empty for the body as a whole.",
      example: "name",
    }),
    message: z.string().openapi({
      description: "What to send instead, for people.",
      example: NOT_BLANK,
    }),
  })
  .openapi("Issue", { description: "One reason why the input is invalid." });

const BadInputCause = z
  .object({
    issues: z
      .array(Issue)
      .openapi({ description: `The first ${MAXIMUM_ISSUES} reasons; \`message\` states one.` }),
  })
  .openapi("BadInputCause", { description: "The cause of every `bad_input`." });

const REQUEST_ID = z.string().openapi({
  description: "Identifies the request in the service's log, as `X-Request-Id` does.",
  format: "uuid",
  example: EXAMPLE_REQUEST_ID,
});

const InternalCause = z
  .object({ request_id: REQUEST_ID })
  .openapi("InternalCause", { description: "The cause of every `internal`." });

const DatabaseStatus = z
  .enum(["ok", "unreachable"])
  .openapi("DatabaseStatus", { description: "Whether the database responds." });

const UnhealthyCause = z
  .object({
    request_id: REQUEST_ID,
    missing_secrets: z.array(z.string()).openapi({
      description: "The names of the secrets that the operator has to set.",
      example: ["LEASE_SECRET"],
    }),
    refused_settings: z.array(RefusedSetting).openapi({
      description:
        "The settings that are missing, too short, published, or not allowed for this host.",
      example: [],
    }),
    missing_tables: z.array(z.string()).openapi({
      description: "The names of the tables that pending migrations create.",
      example: [],
    }),
    database: DatabaseStatus,
  })
  .openapi("UnhealthyCause", { description: "The cause of an `internal` of `GET /health`." });

const PatchConflictCause = z
  .object({
    reason: z.literal("patch_conflict").openapi({
      description: "The patch does not apply to the environment's current configuration.",
    }),
  })
  .openapi("PatchConflictCause", {
    description: "The cause of a `conflict` that fails a deployment at the start of its attempt.",
  });

const DeploymentEndedCause = z
  .object({
    status: z.string().openapi({
      description: "How the deployment has ended.",
      example: "superseded",
    }),
  })
  .openapi("DeploymentEndedCause", {
    description: "The cause of a `conflict` with a claim of a deployment that has ended.",
  });

const EtagCause = z
  .object({
    etag: z.string().openapi({
      description: "The current `ETag` of the resource.",
      example: '"4.5f0c8a526f0e4a539d0f3f8e"',
    }),
  })
  .openapi("EtagCause", {
    description: "The cause of a `conflict` with the `If-Match` of the request.",
  });

const LogGapCause = z
  .object({
    next_offset: z
      .int()
      .openapi({ description: "Send the bytes from this offset on.", example: 4_096 }),
  })
  .openapi("LogGapCause", {
    description: "The cause of a `conflict` with the offset of bytes for a log.",
  });

const ErrorCause = z
  .union([
    BadInputCause,
    UnhealthyCause,
    InternalCause,
    PatchConflictCause,
    DeploymentEndedCause,
    EtagCause,
    LogGapCause,
  ])
  .openapi("ErrorCause", {
    description: "Details of the error, for programs. The code determines the form.",
  });

export const ErrorBody = z
  .object({
    code: Code,
    message: z.string().openapi({ description: "What went wrong and what to change, for people." }),
    cause: ErrorCause.optional().openapi({
      description:
        "Details, for programs. Present for `bad_input` and `internal`, and for a `conflict` that " +
        "fails a deployment, or that `If-Match`, the offset in a log or the end of a deployment causes.",
    }),
  })
  .openapi("Error", {
    description: "The body of every error.",
    example: { code: EXAMPLE.code, message: EXAMPLE.message },
  });

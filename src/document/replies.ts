import { z } from "@hono/zod-openapi";
import { NDJSON } from "../http/media-types.ts";
import { type ApiError, ERRORS, type ErrorCode, MAXIMUM_ISSUES, NotFound } from "../lib/errors.ts";
import { lazy } from "../lib/lazy.ts";
import { component, NOT_BLANK } from "../lib/schemas.ts";

export const EXAMPLE_REQUEST_ID = "5f0c8a52-6f0e-4a53-9d0f-3f8e0f6d2b17";

/** What is wrong with a secret, and what the operator has to do. */
export const EXAMPLE_REFUSAL = "It is not set. Set it to the output of `openssl rand -hex 32`.";

const EXAMPLE = new NotFound("project");

export function jsonReply<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** The type of the key is wide, because the types of zod-openapi allow no handler for the literal. */
export function ndjsonReply(description: string): {
  description: string;
  content: Record<`${string}/x-ndjson`, { schema: z.ZodType<string> }>;
} {
  const schema = z.string().openapi({ description: "One JSON object in each line." });
  return { description, content: { [NDJSON]: { schema } } };
}

/** JSON, and texts by their type. The type of the keys is wide as that of `ndjsonReply`. */
export function jsonOrTextReply(
  schema: z.ZodType,
  texts: Readonly<Record<string, string>>,
  description: string,
): { description: string; content: Record<`text/${string}`, { schema: z.ZodType<string> }> } {
  const others = Object.entries(texts).map(([type, what]) => {
    return [type, { schema: z.string().openapi({ description: what }) }];
  });
  const content = Object.fromEntries([["application/json", { schema }], ...others]);
  return { description, content };
}

export const NO_CONTENT = { description: "Done; there is no body." };

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

const Code = component("ErrorCode", () =>
  z.enum(CODES).openapi({ description: "What went wrong, for programs." }),
);

const Issue = component("Issue", () =>
  z
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
    .openapi({ description: "One reason why the input is invalid." }),
);

const BadInputCause = component("BadInputCause", () =>
  z
    .object({
      issues: z
        .array(Issue())
        .openapi({ description: `The first ${MAXIMUM_ISSUES} reasons; \`message\` states one.` }),
    })
    .openapi({ description: "The cause of every `bad_input`." }),
);

const REQUEST_ID = lazy(() =>
  z.string().openapi({
    description: "Identifies the request in the service's log, as `X-Request-Id` does.",
    format: "uuid",
    example: EXAMPLE_REQUEST_ID,
  }),
);

const InternalCause = component("InternalCause", () =>
  z.object({ request_id: REQUEST_ID() }).openapi({ description: "The cause of every `internal`." }),
);

const DatabaseStatus = component("DatabaseStatus", () =>
  z.enum(["ok", "unreachable"]).openapi({ description: "Whether the database responds." }),
);

export const RefusedSetting = component("RefusedSetting", () =>
  z
    .object({
      name: z.string().openapi({ description: "The setting's name.", example: "LEASE_SECRET" }),
      message: z.string().openapi({
        description: "What is wrong and what to do, for the operator. Never contains the value.",
        example: EXAMPLE_REFUSAL,
      }),
    })
    .openapi({ description: "A setting that the service does not run with." }),
);

const UnhealthyCause = component("UnhealthyCause", () =>
  z
    .object({
      request_id: REQUEST_ID(),
      missing_secrets: z.array(z.string()).openapi({
        description: "The names of the secrets that the operator has to set.",
        example: ["LEASE_SECRET"],
      }),
      refused_settings: z.array(RefusedSetting()).openapi({
        description:
          "The settings that are missing, too short, published, or not allowed for this host.",
        example: [],
      }),
      missing_tables: z.array(z.string()).openapi({
        description: "The names of the tables that pending migrations create.",
        example: [],
      }),
      database: DatabaseStatus(),
    })
    .openapi({ description: "The cause of an `internal` of `GET /health`." }),
);

const PatchConflictCause = component("PatchConflictCause", () =>
  z
    .object({
      reason: z.literal("patch_conflict").openapi({
        description: "The patch does not apply to the environment's current configuration.",
      }),
    })
    .openapi({
      description: "The cause of a `conflict` that fails a deployment at the start of its attempt.",
    }),
);

const DeploymentEndedCause = component("DeploymentEndedCause", () =>
  z
    .object({
      status: z.string().openapi({
        description: "How the deployment has ended.",
        example: "superseded",
      }),
    })
    .openapi({
      description: "The cause of a `conflict` with a claim of a deployment that has ended.",
    }),
);

const EtagCause = component("EtagCause", () =>
  z
    .object({
      etag: z.string().openapi({
        description: "The current `ETag` of the resource.",
        example: '"4.5f0c8a526f0e4a539d0f3f8e"',
      }),
    })
    .openapi({ description: "The cause of a `conflict` with the `If-Match` of the request." }),
);

const LogGapCause = component("LogGapCause", () =>
  z
    .object({
      next_offset: z
        .int()
        .openapi({ description: "Send the bytes from this offset on.", example: 4_096 }),
    })
    .openapi({ description: "The cause of a `conflict` with the offset of bytes for a log." }),
);

const ErrorCause = component("ErrorCause", () =>
  z
    .union([
      BadInputCause(),
      UnhealthyCause(),
      InternalCause(),
      PatchConflictCause(),
      DeploymentEndedCause(),
      EtagCause(),
      LogGapCause(),
    ])
    .openapi({ description: "Details of the error, for programs. The code determines the form." }),
);

export const ErrorBody = component("Error", () =>
  z
    .object({
      code: Code(),
      message: z
        .string()
        .openapi({ description: "What went wrong and what to change, for people." }),
      cause: ErrorCause()
        .optional()
        .openapi({
          description:
            "Details, for programs. Present for `bad_input` and `internal`, and for a `conflict` that " +
            "fails a deployment, or that `If-Match`, the offset in a log or the end of a deployment causes.",
        }),
    })
    .openapi({
      description: "The body of every error.",
      example: { code: EXAMPLE.code, message: EXAMPLE.message },
    }),
);

/** @param errors Named examples, all with the same status. */
export function errorReply(errors: Readonly<Record<string, ApiError>>) {
  const codes = CODES.filter((code) => Object.values(errors).some((error) => error.code === code));
  const examples = Object.entries(errors).map(([name, { code, message, cause }]) => {
    return [name, { value: { code, message, ...(cause !== undefined && { cause }) } }] as const;
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(" "),
    content: {
      "application/json": { schema: ErrorBody(), examples: Object.fromEntries(examples) },
    },
  };
}

import { z } from "@hono/zod-openapi";
import { ERRORS, type ErrorCode, type ErrorStatus, NotFound } from "../lib/errors.ts";
import type { ProjectRole } from "../lib/roles.ts";

const EXAMPLE = new NotFound("project");

export function jsonReply<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** `required`, because otherwise a request without a content type is not validated. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { "application/json": { schema } } } as const;
}

export const NO_CONTENT = { description: "Done; there is no body." };

/** Spec, the role tables. */
export const NEEDS = {
  viewer: needs("viewer"),
  contributor: needs("contributor"),
  owner: needs("owner"),
  admin: "Needs the role `admin` in the organization.",
};

function needs(role: ProjectRole): string {
  return `Needs the role \`${role}\` in the project, or \`admin\` in the organization.`;
}

const CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

export const ErrorBody = z
  .object({
    code: z.enum(CODES).openapi({ description: "What went wrong, for programs." }),
    message: z.string().openapi({ description: "What went wrong and what to change, for people." }),
    cause: z.unknown().optional().openapi({
      description:
        "For `bad_input`, `{ issues: [{ path, message }] }`; for `internal`, `{ request_id }`.",
    }),
  })
  .openapi("Error", {
    example: { code: EXAMPLE.code, message: EXAMPLE.message },
  });

/** Every operation documents all error replies (spec, "Endpoints"). */
export const ERROR_REPLIES = Object.fromEntries(
  CODES.map((code) => [ERRORS[code].status, jsonReply(ErrorBody, describe(ERRORS[code].status))]),
) as Record<ErrorStatus, ReturnType<typeof jsonReply<typeof ErrorBody>>>;

function describe(status: ErrorStatus): string {
  return CODES.filter((code) => ERRORS[code].status === status)
    .map((code) => `\`${code}\`: ${ERRORS[code].meaning}`)
    .join(" ");
}

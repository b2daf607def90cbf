import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { ListQuery } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";

const { callbackLength } = LIMITS;

function parameter(metadata: { description: string; example?: string }) {
  return z
    .string()
    .max(callbackLength.value, `Send at most ${callbackLength.value} characters.`)
    .optional()
    .openapi(metadata);
}

export const SignInQuery = lazy(() =>
  z.object({
    return_to: parameter(
      documented(() => ({
        description:
          "The path on this origin to continue at. Default: `/console/`, also for anything else.",
        example: "/docs",
      })),
    ),
    invitation: parameter(
      documented(() => ({ description: "The token of the invitation to accept." })),
    ),
  }),
);

/** The library validates them. The provider may add others. */
export const CallbackQuery = lazy(() =>
  z.object({
    code: parameter(
      documented(() => ({ description: "The authorization code from the identity provider." })),
    ),
    state: parameter(
      documented(() => ({ description: "The state that the sign-in started with." })),
    ),
    iss: parameter(documented(() => ({ description: "The issuer (RFC 9207)." }))),
    error: parameter(documented(() => ({ description: "Why there is no code." }))),
  }),
);

export const ChoicesQuery = lazy(() => ListQuery().pick({ after: true }));

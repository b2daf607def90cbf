import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../http/pagination.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { component, identifierOf } from "../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";

const { callbackLength } = LIMITS;

function parameter(description: string) {
  return z
    .string()
    .max(callbackLength.value, `Send at most ${callbackLength.value} characters.`)
    .optional()
    .openapi({ description });
}

export const SignInQuery = lazy(() =>
  z.object({
    return_to: parameter(
      "The path on this origin to continue at. Default: `/console/`, also for anything else.",
    ).openapi({
      example: "/docs",
    }),
    invitation: parameter("The token of the invitation to accept."),
  }),
);

/** The library validates them. The provider may add others. */
export const CallbackQuery = lazy(() =>
  z.object({
    code: parameter("The authorization code from the identity provider."),
    state: parameter("The state that the sign-in started with."),
    iss: parameter("The issuer (RFC 9207)."),
    error: parameter("Why there is no code."),
  }),
);

export const ChoicesQuery = lazy(() => ListQuery().pick({ after: true }));

export const SignInMethods = component("SignInMethods", () =>
  z
    .object({
      open_id_connect: z
        .object({
          issuer: z.string().openapi({ description: "The issuer of the identity provider." }),
          url: z.string().openapi({ description: "Where the sign-in begins." }),
        })
        .optional()
        .openapi({
          description: "Absent: this deployment has no identity provider.",
          example: {
            issuer: "https://accounts.example.com",
            url: "https://longshore.example.com/sign-in",
          },
        }),
    })
    .openapi({
      description: "How people sign in, besides with links and API keys, which always work.",
    }),
);

const SessionOrganization = component("SessionOrganization", () =>
  z
    .object({
      id: identifierOf("organization", "The organization's own ID."),
      name: z.string().openapi({ description: "The organization's name.", example: "Acme" }),
      role: OrgRole().openapi({ description: "The role of the person's membership." }),
      current: z
        .boolean()
        .openapi({ description: "Whether it is the organization of the session." }),
    })
    .openapi({ description: "An organization of the person who has signed in." }),
);

export const SessionOrganizationList = envelopeOf(SessionOrganization, "SessionOrganizationList");

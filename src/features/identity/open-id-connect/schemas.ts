import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../memberships/schemas.ts";

const { callbackLength } = LIMITS;

function parameter(metadata: { description: string; example?: string }) {
  return z
    .string()
    .max(callbackLength.value, `Send at most ${callbackLength.value} characters.`)
    .optional()
    .openapi(metadata);
}

export const SignInQuery = z.object({
  return_to: parameter({
    description:
      "The path on this origin to continue at. Default: `/console/`, also for anything else.",
    example: "/docs",
  }),
  invitation: parameter({ description: "The token of the invitation to accept." }),
});

/** The library validates them. The provider may add others. */
export const CallbackQuery = z.object({
  code: parameter({ description: "The authorization code from the identity provider." }),
  state: parameter({ description: "The state that the sign-in started with." }),
  iss: parameter({ description: "The issuer (RFC 9207)." }),
  error: parameter({ description: "Why there is no code." }),
});

export const ChoicesQuery = ListQuery.pick({ after: true });

export const SignInMethods = z
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
  .openapi("SignInMethods", {
    description: "How people sign in, besides with links and API keys, which always work.",
  });

const SessionOrganization = z
  .object({
    id: identifierOf("organization", "The organization's own ID."),
    name: z.string().openapi({ description: "The organization's name.", example: "Acme" }),
    role: OrgRole.openapi({ description: "The role of the person's membership." }),
    current: z.boolean().openapi({ description: "Whether it is the organization of the session." }),
  })
  .openapi("SessionOrganization", {
    description: "An organization of the person who has signed in.",
  });

export const SessionOrganizationList = envelopeOf(SessionOrganization, "SessionOrganizationList");

import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf } from "../../../lib/schemas.ts";
import { OrgRole } from "../memberships/index.ts";

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

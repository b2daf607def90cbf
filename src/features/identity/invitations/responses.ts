import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { CreatedApiKey } from "../api-keys/responses.ts";
import { OrgRole } from "../memberships/index.ts";
import { Member } from "../memberships/responses.ts";
import { EMAIL_EXAMPLE, NAME } from "./schemas.ts";

const Inviter = component("Inviter", () =>
  z
    .object({
      key_id: identifierOf("apiKey", "Which key the inviter used."),
      membership_id: identifierOf("membership", "The membership of that key."),
    })
    .openapi({ description: "Who created an invitation." }),
);

export const Invitation = component("Invitation", () =>
  z
    .object({
      id: identifierOf("invitation", "The invitation's own ID, which is also a part of its link."),
      org_id: identifierOf("organization", "The organization that the person is invited to."),
      email: z.string().openapi({
        description: "The address, as the invitation names it.",
        example: EMAIL_EXAMPLE,
      }),
      name: NAME().optional(),
      role: OrgRole().openapi({ description: "The role that the member will have." }),
      expires_at: timestampOf("The invitation cannot be accepted from this time on."),
      created_at: timestampOf("When the invitation was created."),
      created_by: Inviter(),
    })
    .openapi({ description: "An open invitation, without its link." }),
);

export const InvitationList = envelopeOf(Invitation, "InvitationList");

export const CreatedInvitation = component("CreatedInvitation", () =>
  Invitation()
    .extend({
      url: z.string().openapi({
        description: "The link for the person, shown only once. It accepts the invitation once.",
        example: `https://longshore.example.com/invitations/${EXAMPLE_SECRETS.invitation}`,
      }),
    })
    .openapi({ description: "A new invitation. Only this response contains its link." }),
);

export const AcceptedInvitation = component("AcceptedInvitation", () =>
  z
    .object({
      membership: Member().openapi({ description: "The new member of the organization." }),
      api_key: CreatedApiKey().openapi({
        description: "The member's own key. Its `key` is shown only once: store it now.",
      }),
    })
    .openapi({ description: "The new member, with a key of their own." }),
);

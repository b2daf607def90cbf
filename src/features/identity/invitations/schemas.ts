import { z } from "@hono/zod-openapi";
import { INVITATION_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam } from "../../../http/params.ts";
import { EXAMPLE_SECRETS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, nameInput, text, timestampOf } from "../../../lib/schemas.ts";
import { EMAIL } from "../../../lib/text-patterns.ts";
import { CreatedApiKey } from "../api-keys/schemas.ts";
import { Email, Member, OrgRole } from "../memberships/schemas.ts";

// The checksum is wrong, so that the service refuses it.
export const EMAIL_EXAMPLE = "grace@example.com";

export const NAME = nameInput(LIMITS.personLength.value).openapi({
  description: "What the organization calls the person.",
  example: "Grace Hopper",
});

export const CreateInvitation = z
  .strictObject({
    email: Email.openapi({
      description:
        "The person's address, in any case. Only the organization's invitations show it.",
      pattern: EMAIL.source,
      example: EMAIL_EXAMPLE,
    }),
    role: OrgRole.openapi({ description: "The role that the member will have." }),
    name: NAME.nullish().openapi({
      description: "What the organization calls the person. Absent or null: `New member`.",
    }),
  })
  .openapi("CreateInvitation", {
    description: "Whom to invite, with the role.",
    example: { email: EMAIL_EXAMPLE, name: "Grace Hopper", role: "member" },
  });

export const AcceptInvitation = z
  .strictObject({
    token: text(LIMITS.invitationTokenLength.value).openapi({
      description: "What follows `/invitations/` in the link.",
      example: EXAMPLE_SECRETS.invitation,
    }),
  })
  .openapi("AcceptInvitation", {
    description: "The invitation to accept.",
    example: { token: EXAMPLE_SECRETS.invitation },
  });

export const InvitationParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("invitation_id", "invitation", "invitation"),
});

/** Any text: a token that is no token gets the same answer as one that was used. */
export const InvitationLinkParams = z.object({
  token: z.string().openapi({
    param: { name: "token", in: "path" },
    description: `The token of the link: \`${INVITATION_TOKEN_PATTERN.source}\`.`,
    example: EXAMPLE_SECRETS.invitation,
  }),
});

const Inviter = z
  .object({
    key_id: identifierOf("apiKey", "Which key the inviter used."),
    membership_id: identifierOf("membership", "The membership of that key."),
  })
  .openapi("Inviter", { description: "Who created an invitation." });

export const Invitation = z
  .object({
    id: identifierOf("invitation", "The invitation's own ID, which is also a part of its link."),
    org_id: identifierOf("organization", "The organization that the person is invited to."),
    email: z.string().openapi({
      description: "The address, as the invitation names it.",
      example: EMAIL_EXAMPLE,
    }),
    name: NAME.optional(),
    role: OrgRole.openapi({ description: "The role that the member will have." }),
    expires_at: timestampOf("The invitation cannot be accepted from this time on."),
    created_at: timestampOf("When the invitation was created."),
    created_by: Inviter,
  })
  .openapi("Invitation", { description: "An open invitation, without its link." });

export const InvitationList = envelopeOf(Invitation, "InvitationList");

export const CreatedInvitation = Invitation.extend({
  url: z.string().openapi({
    description: "The link for the person, shown only once. It accepts the invitation once.",
    example: `https://longshore.example.com/invitations/${EXAMPLE_SECRETS.invitation}`,
  }),
}).openapi("CreatedInvitation", {
  description: "A new invitation. Only this response contains its link.",
});

export const AcceptedInvitation = z
  .object({
    membership: Member.openapi({ description: "The new member of the organization." }),
    api_key: CreatedApiKey.openapi({
      description: "The member's own key. Its `key` is shown only once: store it now.",
    }),
  })
  .openapi("AcceptedInvitation", { description: "The new member, with a key of their own." });

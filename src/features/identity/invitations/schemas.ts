import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_SECRETS } from "#documented";
import { INVITATION_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { idParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, nameInput, text } from "../../../lib/schemas.ts";
import { EMAIL } from "../../../lib/text-patterns.ts";
import { Email, OrgRole } from "../memberships/index.ts";

// The checksum is wrong, so that the service refuses it.
export const EMAIL_EXAMPLE = documented(() => "grace@example.com");

export const NAME = lazy(() =>
  nameInput(LIMITS.personLength.value).openapi(
    documented(() => ({
      description: "What the organization calls the person.",
      example: "Grace Hopper",
    })),
  ),
);

export const CreateInvitation = component("CreateInvitation", () =>
  z
    .strictObject({
      email: Email().openapi(
        documented(() => ({
          description:
            "The person's address, in any case. Only the organization's invitations show it.",
          pattern: EMAIL.source,
          example: EMAIL_EXAMPLE,
        })),
      ),
      role: OrgRole().openapi(
        documented(() => ({ description: "The role that the member will have." })),
      ),
      name: NAME()
        .nullish()
        .openapi(
          documented(() => ({
            description: "What the organization calls the person. Absent or null: `New member`.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "Whom to invite, with the role.",
        example: { email: EMAIL_EXAMPLE, name: "Grace Hopper", role: "member" },
      })),
    ),
);

export const AcceptInvitation = component("AcceptInvitation", () =>
  z
    .strictObject({
      token: text(LIMITS.invitationTokenLength.value).openapi(
        documented(() => ({
          description: "What follows `/invitations/` in the link.",
          example: EXAMPLE_SECRETS.invitation,
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The invitation to accept.",
        example: { token: EXAMPLE_SECRETS.invitation },
      })),
    ),
);

export const InvitationParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("invitation_id", "invitation", "invitation"),
  }),
);

/** Any text: a token that is no token gets the same answer as one that was used. */
export const InvitationLinkParams = lazy(() =>
  z.object({
    token: z.string().openapi(
      documented(() => ({
        param: { name: "token", in: "path" },
        description: `The token of the link: \`${INVITATION_TOKEN_PATTERN.source}\`.`,
        example: EXAMPLE_SECRETS.invitation,
      })),
    ),
  }),
);

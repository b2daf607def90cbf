import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { Conflict, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { MEMBER_EXISTS } from "../memberships/index.ts";
import { INVALID_INVITATION, SIGN_IN_ONLY } from "./acceptance.ts";
import { INVITATION_TTL_MS, OPEN } from "./model.ts";
import { AcceptedInvitation, CreatedInvitation, Invitation, InvitationList } from "./responses.ts";
import { OPEN_INVITATION_EXISTS } from "./service.ts";

const ACCEPTING = {
  invalid_invitation: INVALID_INVITATION,
  sign_in_only: SIGN_IN_ONLY,
};

const JOINING = {
  member_limit: new LimitReached(QUOTAS.members, "members"),
  api_key_limit: new LimitReached(QUOTAS.api_keys, "api keys"),
};

const PAGE = { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } };

const operations = {
  listInvitations: {
    tags: ["Invitations"],
    summary: "List the open invitations of an organization",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(InvitationList(), "A page of invitations.") },
  },
  createInvitation: {
    tags: ["Invitations"],
    summary: "Invite a person to an organization",
    role: "admin",
    description:
      "Needs a full credential (`full` in `GET /v1/whoami`); inviting an owner also needs the role `owner`. Returns a link that you pass on to the person; it is " +
      `valid for ${durationOf(INVITATION_TTL_MS)}, accepts the invitation once, and is not shown again. Nothing is sent. The ` +
      "response is the same whether or not the person uses this service already. An invitation " +
      "lapses if its inviter may no longer invite to its role.",
    notFound: ["organization"],
    errors: {
      needs_owner_of_organization: Unauthorized.role("owner"),
      credential_not_full: NOT_FULL,
      open_invitation_exists: new Conflict(OPEN_INVITATION_EXISTS),
      member_exists: MEMBER_EXISTS,
      open_invitation_limit: new LimitReached(LIMITS.openInvitations.value, OPEN),
    },
    responses: {
      201: jsonReply(CreatedInvitation(), "The invitation. Its link is not shown again."),
    },
  },
  getInvitation: {
    tags: ["Invitations"],
    summary: "Read an open invitation",
    role: "admin",
    description: "The response does not contain the link.",
    notFound: ["organization", "invitation"],
    responses: { 200: jsonReply(Invitation(), "The invitation.") },
  },
  revokeInvitation: {
    tags: ["Invitations"],
    summary: "Revoke an open invitation",
    role: "admin",
    description: "Its link no longer works. Revoking that of an owner needs the role `owner`.",
    notFound: ["organization", "invitation"],
    errors: { needs_owner_of_organization: Unauthorized.role("owner") },
    responses: { 204: NO_CONTENT },
  },
  acceptInvitation: {
    tags: ["Invitations"],
    summary: "Accept an invitation",
    description:
      "Creates the member, and an API key of their own with the role of the invitation. Needs no key: " +
      "the token of the link works once. The `ETag` and the `Location` are those of the member.",
    errors: { ...ACCEPTING, ...JOINING },
    responses: {
      201: jsonReply(
        AcceptedInvitation(),
        "The member and their first key, which is not shown again.",
      ),
    },
  },
  showInvitation: {
    tags: ["Invitations"],
    summary: "Open the link of an invitation",
    description:
      "An HTML page that names the organization and the role, with a button that accepts the " +
      "invitation. Opening it changes nothing. Errors are a page, too, if `Accept` has `text/html`.",
    errors: ACCEPTING,
    responses: { 200: PAGE },
  },
  acceptInvitationOnPage: {
    tags: ["Invitations"],
    summary: "Accept an invitation on its page",
    description:
      "What the button of the page sends. Does the same as `POST /v1/invitations/accept`, and shows " +
      "the key on an HTML page.",
    errors: { ...ACCEPTING, ...JOINING },
    responses: { 200: PAGE },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Invitations",
    description:
      "An administrator invites a person by e-mail address, and passes on a link that works once.",
  },
];

export const document: FeatureDocument = { tags, operations };

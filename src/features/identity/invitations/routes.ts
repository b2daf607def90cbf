import type { Context } from "hono";
import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import {
  createdWithSecrets,
  done,
  htmlReply,
  json,
  noContent,
  ok,
  page,
  unchanging,
} from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { isSameOrigin } from "../../../http/same-origin.ts";
import { sessionCookie, sessionCookieName } from "../../../http/session-cookie.ts";
import { Conflict, LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { trustsAdmins } from "../../../lib/settings.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { MEMBER_EXISTS, MEMBER_PATH, presentMember } from "../memberships/index.ts";
import { type CreatedSession, SIGN_IN_PATH, signInWithKey } from "../sessions/index.ts";
import {
  acceptInvitation,
  findInvitation,
  INVALID_INVITATION,
  NAMELESS,
  SIGN_IN_ONLY,
} from "./acceptance.ts";
import { INVITATION_PATH, INVITATION_TTL_MS, OPEN } from "./model.ts";
import { pageHeaders, renderAccepted, renderOffer, renderRefusal, renderSignedIn } from "./page.ts";
import {
  presentAcceptedInvitation,
  presentInvitation,
  presentInvitationUrl,
} from "./presenters.ts";
import {
  AcceptedInvitation,
  AcceptInvitation,
  CreatedInvitation,
  CreateInvitation,
  Invitation,
  InvitationLinkParams,
  InvitationList,
  InvitationParams,
} from "./schemas.ts";
import {
  getInvitation,
  invite,
  listInvitations,
  OPEN_INVITATION_EXISTS,
  revokeInvitation,
} from "./service.ts";

const ACCEPTING = {
  invalid_invitation: INVALID_INVITATION,
  sign_in_only: SIGN_IN_ONLY,
};

const JOINING = {
  member_limit: new LimitReached(QUOTAS.members, "members"),
  api_key_limit: new LimitReached(QUOTAS.api_keys, "api keys"),
};

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "listInvitations",
  tags: ["Invitations"],
  summary: "List the open invitations of an organization",
  access: { scope: "members:read", role: "admin" },
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: json(InvitationList, "A page of invitations.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "getInvitation",
  tags: ["Invitations"],
  summary: "Read an open invitation",
  description: "The response does not contain the link.",
  access: { scope: "members:read", role: "admin" },
  resource: true,
  request: { params: InvitationParams },
  responses: { 200: json(Invitation, "The invitation.") },
  notFound: ["organization", "invitation"],
});

const create = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "createInvitation",
  tags: ["Invitations"],
  summary: "Invite a person to an organization",
  description:
    "Needs a full credential (`full` in `GET /v1/whoami`); inviting an owner also needs the role `owner`. Returns a link that you pass on to the person; it is " +
    `valid for ${durationOf(INVITATION_TTL_MS)}, accepts the invitation once, and is not shown again. Nothing is sent. The ` +
    "response is the same whether or not the person uses this service already. An invitation " +
    "lapses if its inviter may no longer invite to its role.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  request: { params: OrganizationParams, body: jsonBody(CreateInvitation) },
  responses: {
    201: json(CreatedInvitation, "The invitation. Its link is not shown again."),
  },
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    open_invitation_exists: new Conflict(OPEN_INVITATION_EXISTS),
    member_exists: MEMBER_EXISTS,
    open_invitation_limit: new LimitReached(LIMITS.openInvitations.value, OPEN),
  },
});

const revoke = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "revokeInvitation",
  tags: ["Invitations"],
  summary: "Revoke an open invitation",
  description: "Its link no longer works. Revoking that of an owner needs the role `owner`.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  request: { params: InvitationParams },
  responses: { 204: noContent },
  notFound: ["organization", "invitation"],
  errors: { needs_owner_of_organization: Unauthorized.role("owner") },
});

const accept = apiRoute({
  method: "post",
  path: "/v1/invitations/accept",
  operationId: "acceptInvitation",
  tags: ["Invitations"],
  summary: "Accept an invitation",
  description:
    "Creates the member, and an API key of their own with the role of the invitation. Needs no key: " +
    "the token of the link works once. The `ETag` and the `Location` are those of the member.",
  access: "public",
  writes: true,
  resource: true,
  request: { body: jsonBody(AcceptInvitation) },
  responses: {
    201: json(AcceptedInvitation, "The member and their first key, which is not shown again."),
  },
  errors: { ...ACCEPTING, ...JOINING },
});

const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: () => pageHeaders("none"),
});

const show = apiRoute({
  method: "get",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "showInvitation",
  page: true,
  access: "public",
  request: { params: InvitationLinkParams },
  responses: { 200: htmlReply },
  errors: ACCEPTING,
  middleware: [showErrors],
});

const acceptOnPage = apiRoute({
  method: "post",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "acceptInvitationOnPage",
  page: true,
  access: "public",
  writes: true,
  request: { params: InvitationLinkParams },
  responses: { 200: htmlReply },
  errors: { ...ACCEPTING, ...JOINING },
  middleware: [showErrors],
});

export const invitationRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listInvitations(ctx, c.req.valid("param").org_id, toPageRequest(c.req.valid("query"))),
      presentInvitation,
    ),
  )
  .openapi(create, (c) => {
    const { name = null, ...body } = c.req.valid("json");
    return createdWithSecrets(
      c,
      get.path,
      (ctx) =>
        invite(ctx, c.req.valid("param").org_id, { ...body, name }, new URL(c.req.url).origin),
      presentInvitation,
      { version: unchanging, secrets: presentInvitationUrl },
    );
  })
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getInvitation(ctx, params.org_id, params.invitation_id),
      presentInvitation,
      { version: unchanging },
    );
  })
  .openapi(revoke, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) => revokeInvitation(ctx, params.org_id, params.invitation_id));
  })
  .openapi(accept, async (c) => {
    const { ctx } = c.var;
    const accepted = await acceptInvitation(ctx, c.req.valid("json").token);
    const { organizationId, membershipId, version } = accepted.member;
    await tagged(c, version, presentMember(accepted.member));
    setLocation(c, MEMBER_PATH, { org_id: organizationId, member_id: membershipId });
    return c.json(presentAcceptedInvitation(accepted), 201);
  })
  .openapi(show, async (c) => {
    const { ctx } = c.var;
    const byLink = trustsAdmins(ctx.settings);
    const isConfigured = ctx.installation.identityProvider() !== undefined;
    if (!byLink && !isConfigured) throw SIGN_IN_ONLY;
    const invitation = await findInvitation(ctx, c.req.valid("param").token);
    const { token } = c.req.valid("param");
    const signInPath = isConfigured ? signInPathOf(token) : undefined;
    const page = renderOffer(invitation, { byLink, signInPath });
    return c.html(page, 200, await pageHeaders("self"));
  })
  .openapi(acceptOnPage, async (c) => {
    const accepted = await acceptInvitation(c.var.ctx, c.req.valid("param").token);
    const { organizationName, member, apiKey } = accepted;
    const { name, role } = member;
    const joined = {
      organizationName,
      role,
      key: apiKey.key,
      origin: new URL(c.req.url).origin,
      name: name === NAMELESS ? undefined : name,
    };
    const session = await startSession(c, apiKey.key);
    if (session) {
      const { secret, maxAgeSeconds } = session;
      c.header("set-cookie", sessionCookie(c.req.url, secret, maxAgeSeconds));
    }
    const hasSignIn = c.var.ctx.installation.identityProvider() !== undefined;
    const page = session ? renderSignedIn(joined, { hasSignIn }) : renderAccepted(joined);
    return c.html(page, 200, await pageHeaders("none"));
  });

/**
 * Only for the button of the page: another site could otherwise sign somebody in as a member of its own
 * organization. Undefined as well if it fails, because the key is not shown again.
 */
async function startSession(c: Context, key: string): Promise<CreatedSession | undefined> {
  if (!isSameOrigin(c.req.raw) || sessionCookieName(c.req.url) === undefined) return undefined;
  const { ctx } = c.var;
  return signInWithKey(ctx, key).catch((error: unknown) => {
    ctx.log("error", "invitation.not_signed_in", describeError(error));
    return undefined;
  });
}

function signInPathOf(invitation: string): string {
  return `${SIGN_IN_PATH}?${new URLSearchParams({ invitation })}`;
}

import { z } from "@hono/zod-openapi";
import { setLocation, tagged } from "../../http/entity-tags.ts";
import { showErrorsAs } from "../../http/narrow-page.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter, type PublicEnv, readJsonBody } from "../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { readProviderSettings } from "../../lib/identity-provider.ts";
import { LIMITS } from "../../lib/limits.ts";
import { trustsAdmins } from "../../lib/settings.ts";
import { NOT_FULL } from "../audit/index.ts";
import { once } from "../idempotency/index.ts";
import { MEMBER_EXISTS, MEMBER_PATH, presentMember } from "../memberships/index.ts";
import { SIGN_IN_PATH } from "../sessions/index.ts";
import {
  acceptInvitation,
  findInvitation,
  INVALID_INVITATION,
  type InviteeContext,
  SIGN_IN_ONLY,
} from "./acceptance.ts";
import { INVITATION_PATH, INVITATION_VERSION } from "./model.ts";
import { pageHeaders, renderAccepted, renderOffer, renderRefusal } from "./page.ts";
import {
  presentAcceptedInvitation,
  presentCreatedInvitation,
  presentInvitation,
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

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "listInvitations",
  tags: ["Invitations"],
  summary: "List the open invitations of an organization",
  role: "admin",
  scope: "members:read",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: ListQuery() },
  responses: { 200: jsonReply(InvitationList(), "A page of invitations.") },
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "createInvitation",
  tags: ["Invitations"],
  summary: "Invite a person to an organization",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    "Needs a full credential (`full` in `GET /v1/whoami`); inviting an owner also needs the role `owner`. Returns a link that you pass on to the person; it is " +
    "valid for 7 days, accepts the invitation once, and is not shown again. Nothing is sent. The " +
    "response is the same whether or not the person uses this service already. An invitation " +
    "lapses if its inviter may no longer invite to its role.",
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    open_invitation_exists: new Conflict(OPEN_INVITATION_EXISTS),
    member_exists: new Conflict(MEMBER_EXISTS),
    open_invitation_limit: new LimitReached(
      LIMITS.openInvitations.value,
      "open invitations of an organization",
    ),
  },
  request: { params: OrganizationParams(), body: jsonBody(CreateInvitation()) },
  responses: {
    201: jsonReply(CreatedInvitation(), "The invitation. Its link is not shown again."),
  },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "getInvitation",
  tags: ["Invitations"],
  summary: "Read an open invitation",
  role: "admin",
  record: true,
  scope: "members:read",
  description: "The response does not contain the link.",
  notFound: ["organization", "invitation"],
  request: { params: InvitationParams() },
  responses: { 200: jsonReply(Invitation(), "The invitation.") },
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "revokeInvitation",
  tags: ["Invitations"],
  summary: "Revoke an open invitation",
  role: "admin",
  record: true,
  scope: "members:write",
  description: "Its link no longer works. Revoking that of an owner needs the role `owner`.",
  notFound: ["organization", "invitation"],
  errors: { needs_owner_of_organization: Unauthorized.role("owner") },
  request: { params: InvitationParams() },
  responses: { 204: NO_CONTENT },
});

const ACCEPTING = {
  invalid_invitation: INVALID_INVITATION,
  sign_in_only: SIGN_IN_ONLY,
};

const JOINING = {
  member_limit: new LimitReached(LIMITS.members.value, "members"),
  api_key_limit: new LimitReached(LIMITS.apiKeys.value, "api keys"),
};

const accept = operation({
  method: "post",
  path: "/v1/invitations/accept",
  operationId: "acceptInvitation",
  tags: ["Invitations"],
  summary: "Accept an invitation",
  record: true,
  description:
    "Creates the member, and an API key of their own with the role of the invitation. Needs no key: " +
    "the token of the link works once. The `ETag` and the `Location` are those of the member.",
  credentials: [],
  writes: true,
  middleware: [readJsonBody(() => true)],
  errors: { ...ACCEPTING, ...JOINING },
  request: { body: jsonBody(AcceptInvitation()) },
  responses: {
    201: jsonReply(
      AcceptedInvitation(),
      "The member and their first key, which is not shown again.",
    ),
  },
});

const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: () => pageHeaders("none"),
});

const PAGE = { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } };

const show = operation({
  method: "get",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "showInvitation",
  tags: ["Invitations"],
  summary: "Open the link of an invitation",
  description:
    "An HTML page that names the organization and the role, with a button that accepts the " +
    "invitation. Opening it changes nothing. Errors are a page, too, if `Accept` has `text/html`.",
  credentials: [],
  middleware: [showErrors],
  errors: ACCEPTING,
  request: { params: InvitationLinkParams() },
  responses: { 200: PAGE },
});

const acceptOnPage = operation({
  method: "post",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "acceptInvitationOnPage",
  tags: ["Invitations"],
  summary: "Accept an invitation on its page",
  description:
    "What the button of the page sends. Does the same as `POST /v1/invitations/accept`, and shows " +
    "the key on an HTML page.",
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody(() => false)],
  errors: { ...ACCEPTING, ...JOINING },
  request: { params: InvitationLinkParams() },
  responses: { 200: PAGE },
});

export const invitationRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listInvitations(c.env, org_id, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentInvitation), 200);
  })
  .openapi(create, async (c) => {
    const { org_id } = c.req.valid("param");
    const { name = null, ...body } = c.req.valid("json");
    const { origin } = new URL(c.req.url);
    const created = await once(c.env, invite, org_id, { ...body, name }, origin);
    const { id, organizationId } = created.row;
    await tagged(c, INVITATION_VERSION, presentInvitation(created.row));
    setLocation(c, get, { org_id: organizationId, invitation_id: id });
    return c.json(presentCreatedInvitation(created), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, invitation_id } = c.req.valid("param");
    const invitation = await getInvitation(c.env, org_id, invitation_id);
    return c.json(await tagged(c, INVITATION_VERSION, presentInvitation(invitation)), 200);
  })
  .openapi(revoke, async (c) => {
    const { org_id, invitation_id } = c.req.valid("param");
    await revokeInvitation(c.env, org_id, invitation_id);
    return c.body(null, 204);
  });

function signInPathOf(invitation: string): string {
  return `${SIGN_IN_PATH}?${new URLSearchParams({ invitation })}`;
}

export function publicInvitationRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => InviteeContext,
) {
  return createRouter<PublicEnv>()
    .openapi(accept, async (c) => {
      const ctx = createContext(c.env, c.executionCtx);
      const accepted = await acceptInvitation(ctx, c.req.valid("json").token);
      const { organizationId, membershipId, recordVersion } = accepted.member;
      await tagged(c, recordVersion, presentMember(accepted.member));
      setLocation(c, MEMBER_PATH, { org_id: organizationId, member_id: membershipId });
      return c.json(presentAcceptedInvitation(accepted), 201);
    })
    .openapi(show, async (c) => {
      const byLink = trustsAdmins(c.env);
      const isConfigured = readProviderSettings(c.env) !== undefined;
      if (!byLink && !isConfigured) throw SIGN_IN_ONLY;
      const ctx = createContext(c.env, c.executionCtx);
      const invitation = await findInvitation(ctx, c.req.valid("param").token);
      const { token } = c.req.valid("param");
      const signInPath = isConfigured ? signInPathOf(token) : undefined;
      const page = renderOffer(invitation, { byLink, signInPath });
      return c.html(page, 200, await pageHeaders("self"));
    })
    .openapi(acceptOnPage, async (c) => {
      const ctx = createContext(c.env, c.executionCtx);
      const accepted = await acceptInvitation(ctx, c.req.valid("param").token);
      const { organizationName, apiKey } = accepted;
      const page = renderAccepted(organizationName, apiKey.key, new URL(c.req.url).origin);
      return c.html(page, 200, await pageHeaders("none"));
    });
}

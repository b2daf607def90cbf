import type { PublicContext } from "../../../context.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { setLocation, tagged } from "../../../http/entity-tags.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { showErrorsAs } from "../../../http/narrow-page.ts";
import { operation, unchanging } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { readJsonBody } from "../../../http/read-body.ts";
import { createRouter } from "../../../http/router.ts";
import { readProviderSettings } from "../../../lib/identity-provider.ts";
import { trustsAdmins } from "../../../lib/settings.ts";
import { MEMBER_PATH, presentMember } from "../memberships/index.ts";
import { SIGN_IN_PATH } from "../sessions/index.ts";
import { acceptInvitation, findInvitation, SIGN_IN_ONLY } from "./acceptance.ts";
import type { Documented } from "./document.ts";
import { INVITATION_PATH } from "./model.ts";
import { pageHeaders, renderAccepted, renderOffer, renderRefusal } from "./page.ts";
import {
  presentAcceptedInvitation,
  presentInvitation,
  presentInvitationUrl,
} from "./presenters.ts";
import {
  AcceptInvitation,
  CreateInvitation,
  InvitationLinkParams,
  InvitationParams,
} from "./schemas.ts";
import { getInvitation, invite, listInvitations, revokeInvitation } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "listInvitations",
  presentEach: presentInvitation,
  scope: "members:read",
  request: () => ({ params: OrganizationParams(), query: ListQuery() }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "getInvitation",
  resource: true,
  present: presentInvitation,
  version: unchanging,
  scope: "members:read",
  request: () => ({ params: InvitationParams() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "createInvitation",
  status: 201,
  resource: true,
  present: presentInvitation,
  presentSecrets: presentInvitationUrl,
  version: unchanging,
  location: get,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateInvitation()) }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "revokeInvitation",
  status: 204,
  resource: true,
  scope: "members:write",
  request: () => ({ params: InvitationParams() }),
});

const accept = operation({
  method: "post",
  path: "/v1/invitations/accept",
  operationId: "acceptInvitation",
  status: 201,
  resource: true,
  credentials: [],
  writes: true,
  middleware: [readJsonBody({ isRequired: true })],
  request: () => ({ body: jsonBody(AcceptInvitation()) }),
});

const showErrors = showErrorsAs({
  render: renderRefusal,
  headers: () => pageHeaders("none"),
});

const show = operation({
  method: "get",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "showInvitation",
  page: true,
  credentials: [],
  middleware: [showErrors],
  request: () => ({ params: InvitationLinkParams() }),
});

const acceptOnPage = operation({
  method: "post",
  path: `${INVITATION_PATH}/{token}`,
  operationId: "acceptInvitationOnPage",
  page: true,
  credentials: [],
  writes: true,
  middleware: [showErrors, readJsonBody({ isRequired: false })],
  request: () => ({ params: InvitationLinkParams() }),
});

export const invitationRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listInvitations(ctx, params.org_id, toPageRequest(query)),
  )
  .handle(create, ({ ctx, url, params, body: { name = null, ...body } }) =>
    invite(ctx, params.org_id, { ...body, name }, new URL(url).origin),
  )
  .handle(get, ({ ctx, params }) => getInvitation(ctx, params.org_id, params.invitation_id))
  .handle(revoke, ({ ctx, params }) => revokeInvitation(ctx, params.org_id, params.invitation_id));

function signInPathOf(invitation: string): string {
  return `${SIGN_IN_PATH}?${new URLSearchParams({ invitation })}`;
}

export function publicInvitationRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => PublicContext,
) {
  return createRouter<Documented, PublicEnv>()
    .openapi(accept, async (c) => {
      const ctx = createContext(c.env, c.executionCtx);
      const accepted = await acceptInvitation(ctx, c.req.valid("json").token);
      const { organizationId, membershipId, version } = accepted.member;
      await tagged(c, version, presentMember(accepted.member));
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

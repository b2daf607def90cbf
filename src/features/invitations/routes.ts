import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation, tagged } from "../../http/entity-tags.ts";
import { showErrorsAs } from "../../http/narrow-page.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { readJsonBody } from "../../http/read-body.ts";
import { createRouter, type PublicEnv } from "../../http/router.ts";
import { readProviderSettings } from "../../lib/identity-provider.ts";
import { trustsAdmins } from "../../lib/settings.ts";
import { once } from "../idempotency/index.ts";
import { MEMBER_PATH, presentMember } from "../memberships/index.ts";
import { SIGN_IN_PATH } from "../sessions/index.ts";
import {
  acceptInvitation,
  findInvitation,
  type InviteeContext,
  SIGN_IN_ONLY,
} from "./acceptance.ts";
import type { Documented } from "./document.ts";
import { INVITATION_PATH, INVITATION_VERSION } from "./model.ts";
import { pageHeaders, renderAccepted, renderOffer, renderRefusal } from "./page.ts";
import {
  presentAcceptedInvitation,
  presentCreatedInvitation,
  presentInvitation,
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
  scope: "members:read",
  request: () => ({ params: OrganizationParams(), query: ListQuery() }),
});

const create = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/invitations",
  operationId: "createInvitation",
  status: 201,
  record: true,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(CreateInvitation()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "getInvitation",
  record: true,
  scope: "members:read",
  request: () => ({ params: InvitationParams() }),
});

const revoke = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/invitations/{invitation_id}",
  operationId: "revokeInvitation",
  status: 204,
  record: true,
  scope: "members:write",
  request: () => ({ params: InvitationParams() }),
});

const accept = operation({
  method: "post",
  path: "/v1/invitations/accept",
  operationId: "acceptInvitation",
  status: 201,
  record: true,
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
    return jsonWithTag(c, INVITATION_VERSION, presentInvitation(invitation), 200);
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
  return createRouter<Documented, PublicEnv>()
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

import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { ApiKeyParams } from "../api-keys/index.ts";
import { MemberParams } from "../memberships/index.ts";
import { MemberSessionParams } from "../sessions/index.ts";
import type { Documented } from "./document.ts";
import { presentFamilyItem } from "./presenters.ts";
import { listFamilyOfKey, listFamilyOfMember, listFamilyOfSession } from "./service.ts";

const ofKey = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/family",
  operationId: "listApiKeyFamily",
  presentEach: presentFamilyItem,
  scope: "keys:read",
  request: () => ({ params: ApiKeyParams(), query: ListQuery() }),
});

const ofSession = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}/family",
  operationId: "listSessionFamily",
  presentEach: presentFamilyItem,
  scope: "members:read",
  request: () => ({ params: MemberSessionParams(), query: ListQuery() }),
});

const ofMember = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/family",
  operationId: "listMemberFamily",
  presentEach: presentFamilyItem,
  scope: "members:read",
  request: () => ({ params: MemberParams(), query: ListQuery() }),
});

export const familyRoutes = createRouter<Documented>()
  .handle(ofKey, ({ ctx, params: { org_id: organizationId, key_id: id }, query }) =>
    listFamilyOfKey(ctx, { organizationId, id }, toPageRequest(query)),
  )
  .handle(ofMember, ({ ctx, params: { org_id: organizationId, member_id: id }, query }) =>
    listFamilyOfMember(ctx, { organizationId, id }, toPageRequest(query)),
  )
  .handle(ofSession, ({ ctx, params: { org_id, member_id, member_session_id: id }, query }) => {
    const session = { organizationId: org_id, membershipId: member_id, id };
    return listFamilyOfSession(ctx, session, toPageRequest(query));
  });

import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { createRouter } from "../../http/router.ts";
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
  scope: "keys:read",
  request: () => ({ params: ApiKeyParams(), query: ListQuery() }),
});

const ofSession = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}/family",
  operationId: "listSessionFamily",
  scope: "members:read",
  request: () => ({ params: MemberSessionParams(), query: ListQuery() }),
});

const ofMember = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/family",
  operationId: "listMemberFamily",
  scope: "members:read",
  request: () => ({ params: MemberParams(), query: ListQuery() }),
});

export const familyRoutes = createRouter<Documented>()
  .openapi(ofKey, async (c) => {
    const { org_id: organizationId, key_id: id } = c.req.valid("param");
    const page = toPageRequest(c.req.valid("query"));
    const found = await listFamilyOfKey(c.env, { organizationId, id }, page);
    return c.json(toEnvelope(found, presentFamilyItem), 200);
  })
  .openapi(ofMember, async (c) => {
    const { org_id: organizationId, member_id: id } = c.req.valid("param");
    const page = toPageRequest(c.req.valid("query"));
    const found = await listFamilyOfMember(c.env, { organizationId, id }, page);
    return c.json(toEnvelope(found, presentFamilyItem), 200);
  })
  .openapi(ofSession, async (c) => {
    const { org_id, member_id, member_session_id: id } = c.req.valid("param");
    const session = { organizationId: org_id, membershipId: member_id, id };
    const page = toPageRequest(c.req.valid("query"));
    return c.json(
      toEnvelope(await listFamilyOfSession(c.env, session, page), presentFamilyItem),
      200,
    );
  });

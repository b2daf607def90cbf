import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { jsonReply } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Unauthorized } from "../../lib/errors.ts";
import { ApiKeyParams } from "../api-keys/index.ts";
import { MemberParams } from "../memberships/index.ts";
import { MemberSessionParams } from "../sessions/index.ts";
import { presentFamilyItem } from "./presenters.ts";
import { FamilyItemList } from "./schemas.ts";
import { listFamilyOfKey, listFamilyOfMember, listFamilyOfSession } from "./service.ts";

const MEMBERS_STAY =
  "Of another organization, it has the name and counts only. The members that the family has added are " +
  "listed, too: they stay, so remove those that you do not know.";

const ofKey = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/family",
  operationId: "listApiKeyFamily",
  tags: ["API keys"],
  summary: "List the family of an API key",
  scope: "keys:read",
  description: `What revoking the key with \`descendants=revoke\` ends. ${MEMBERS_STAY} The key may be revoked \
already. Needs the role \`admin\` in the organization for a key of another membership.`,
  notFound: ["organization", "API key"],
  errors: { needs_admin: Unauthorized.role("admin") },
  request: { params: ApiKeyParams(), query: ListQuery() },
  responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
});

const ofSession = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}/family",
  operationId: "listSessionFamily",
  tags: ["Sessions"],
  summary: "List the family of a session",
  role: "admin",
  scope: "members:read",
  description: `What revoking the session with \`descendants=revoke\` ends. ${MEMBERS_STAY} The session may \
have ended already.`,
  notFound: ["organization", "session"],
  request: { params: MemberSessionParams(), query: ListQuery() },
  responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
});

const ofMember = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/family",
  operationId: "listMemberFamily",
  tags: ["Organizations"],
  summary: "List what a member has made",
  role: "admin",
  scope: "members:read",
  description: `What removing the member with \`descendants=revoke\` ends, the keys and sessions of the member \
included. ${MEMBERS_STAY} The member may be removed already.`,
  notFound: ["organization", "membership"],
  request: { params: MemberParams(), query: ListQuery() },
  responses: { 200: jsonReply(FamilyItemList(), "A page of the family.") },
});

export const familyRoutes = createRouter()
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

import { apiRoute } from "../../../http/api-route.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { json, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { ApiKeyParams } from "../api-keys/schemas.ts";
import { presentKeyOwner } from "../credentials/index.ts";
import { MemberParams } from "../memberships/schemas.ts";
import { MemberSessionParams } from "../sessions/schemas.ts";
import type { FamilyItem } from "./model.ts";
import { FamilyItemList } from "./schemas.ts";
import { listFamilyOfKey, listFamilyOfMember, listFamilyOfSession } from "./service.ts";

const MEMBERS_STAY =
  "Of another organization, it has the name and counts only. The members that the family has added are " +
  "listed, too: they stay, so remove those that you do not know.";

const ofKey = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/api-keys/{key_id}/family",
  operationId: "listApiKeyFamily",
  tags: ["API keys"],
  summary: "List the family of an API key",
  description: `What revoking the key with \`descendants=revoke\` ends. ${MEMBERS_STAY} The key may be revoked \
already. Needs the role \`admin\` in the organization for a key of another membership.`,
  access: { scope: "keys:read" },
  request: { params: ApiKeyParams, query: ListQuery },
  responses: { 200: json(FamilyItemList, "A page of the family.") },
  notFound: ["organization", "API key"],
  errors: { needs_admin: Unauthorized.role("admin") },
});

const ofSession = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/sessions/{member_session_id}/family",
  operationId: "listSessionFamily",
  tags: ["Sessions"],
  summary: "List the family of a session",
  description: `What revoking the session with \`descendants=revoke\` ends. ${MEMBERS_STAY} The session may \
have ended already.`,
  access: { scope: "members:read", role: "admin" },
  request: { params: MemberSessionParams, query: ListQuery },
  responses: { 200: json(FamilyItemList, "A page of the family.") },
  notFound: ["organization", "session"],
});

const ofMember = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}/family",
  operationId: "listMemberFamily",
  tags: ["Organizations"],
  summary: "List what a member has made",
  description: `What removing the member with \`descendants=revoke\` ends, the keys and sessions of the member \
included. ${MEMBERS_STAY} The member may be removed already.`,
  access: { scope: "members:read", role: "admin" },
  request: { params: MemberParams, query: ListQuery },
  responses: { 200: json(FamilyItemList, "A page of the family.") },
  notFound: ["organization", "membership"],
});

export const familyRoutes = createRouter()
  .openapi(ofKey, (c) => {
    const { org_id: organizationId, key_id: id } = c.req.valid("param");
    return page(
      c,
      (ctx) => listFamilyOfKey(ctx, { organizationId, id }, toPageRequest(c.req.valid("query"))),
      presentFamilyItem,
    );
  })
  .openapi(ofMember, (c) => {
    const { org_id: organizationId, member_id: id } = c.req.valid("param");
    return page(
      c,
      (ctx) => listFamilyOfMember(ctx, { organizationId, id }, toPageRequest(c.req.valid("query"))),
      presentFamilyItem,
    );
  })
  .openapi(ofSession, (c) => {
    const { org_id, member_id, member_session_id: id } = c.req.valid("param");
    const session = { organizationId: org_id, membershipId: member_id, id };
    return page(
      c,
      (ctx) => listFamilyOfSession(ctx, session, toPageRequest(c.req.valid("query"))),
      presentFamilyItem,
    );
  });

function presentFamilyItem(item: FamilyItem) {
  return {
    type: item.type,
    id: item.id,
    name: item.name ?? undefined,
    membership_id: item.membershipId ?? undefined,
    owner: item.type === "member" ? undefined : presentKeyOwner(item.owner),
    role: item.role ?? undefined,
    counts: item.type === "organization" ? countTypes(item.credentials) : undefined,
    created_at: toTimestamp(item.createdAt),
  };
}

/** Each text begins with a type. */
function countTypes(credentials: ReadonlySet<string>) {
  const counts = { api_keys: 0, runner_tokens: 0, trusts: 0, invitations: 0 };
  for (const each of credentials) counts[`${each.split(" ")[0]}s` as keyof typeof counts] += 1;
  return counts;
}

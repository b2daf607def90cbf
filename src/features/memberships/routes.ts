import { setLocation, tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached, Unauthorized } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { NOT_FULL } from "../audit/index.ts";
import { once } from "../idempotency/index.ts";
import { LAST_OWNER_KEY } from "./model.ts";
import { presentMember, toNewAccount } from "./presenters.ts";
import {
  AddMember,
  Member,
  MemberList,
  MemberParams,
  RemoveMemberQuery,
  ReplaceMember,
} from "./schemas.ts";
import {
  addMember,
  CREATOR_CHANGED,
  changeMemberRole,
  getMember,
  LAST_OWNER,
  listMembers,
  MEMBER_EXISTS,
  removeMember,
  removeMemberWithFamily,
  SERVICE_ACCOUNT_AS_OWNER,
} from "./service.ts";

const OWNERS = "Adding, changing or removing an owner needs the role `owner`.";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members",
  operationId: "listMembers",
  tags: ["Organizations"],
  summary: "List the members of an organization",
  role: "admin",
  scope: "members:read",
  notFound: ["organization"],
  request: { params: OrganizationParams(), query: namedListQuery(LIMITS.personLength.value) },
  responses: { 200: jsonReply(MemberList(), "A page of members.") },
});

const add = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/members",
  operationId: "addMember",
  tags: ["Organizations"],
  summary: "Add a member to an organization",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    `Needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The member gets an account of its own in this organization, with the name and the ` +
    "profile of the request, also if the person is a member of other organizations. Where the " +
    "deployment does not trust administrators (`TRUST_ADMINS`), the member is `pending`: invite the " +
    "person instead.",
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    creator_changed: new Conflict(CREATOR_CHANGED),
    member_exists: new Conflict(MEMBER_EXISTS),
    member_limit: new LimitReached(LIMITS.members.value, "members"),
  },
  request: { params: OrganizationParams(), body: jsonBody(AddMember()) },
  responses: { 201: jsonReply(Member(), "The member.") },
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "getMember",
  tags: ["Organizations"],
  summary: "Read a member of an organization",
  role: "admin",
  record: true,
  scope: "members:read",
  notFound: ["organization", "membership"],
  request: { params: MemberParams() },
  responses: { 200: jsonReply(Member(), "The member.") },
});

const replace = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "replaceMember",
  tags: ["Organizations"],
  summary: "Replace the role of a member in an organization",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    `Giving a higher role needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The last owner, and the owner with the last owner's key, cannot get another role. A ` +
    "service account cannot be an owner.",
  notFound: ["organization", "membership"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    last_owner: new Conflict(LAST_OWNER),
    last_owner_key: new Conflict(LAST_OWNER_KEY),
    role_changed: new Conflict("The member's role has just changed. Read it again and retry."),
    service_account_as_owner: SERVICE_ACCOUNT_AS_OWNER,
  },
  request: { params: MemberParams(), body: jsonBody(ReplaceMember()) },
  responses: { 200: jsonReply(Member(), "The member.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "removeMember",
  tags: ["Organizations"],
  summary: "Remove a member from an organization",
  role: "admin",
  record: true,
  scope: "members:write",
  description:
    `${OWNERS} Deletes the member's keys and project roles too. What the member has made for others stays, ` +
    "unless `descendants=revoke` ends it, which needs a full credential. The last owner of the organization or of a project, and the " +
    "owner with the last owner's key, cannot be removed.",
  notFound: ["organization", "membership"],
  errors: {
    credential_not_full: NOT_FULL,
    needs_owner_of_organization: Unauthorized.role("owner"),
    last_owner: new Conflict(LAST_OWNER),
    last_owner_key: new Conflict(LAST_OWNER_KEY),
    role_changed: new Conflict("The member's role has just changed. Read it again and retry."),
  },
  request: { params: MemberParams(), query: RemoveMemberQuery() },
  responses: { 204: NO_CONTENT },
});

export const membershipRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listMembers(c.env, org_id, toNamedPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentMember), 200);
  })
  .openapi(add, async (c) => {
    const { org_id } = c.req.valid("param");
    const body = c.req.valid("json");
    const input = { ...toNewAccount(body), role: body.role };
    const member = await once(c.env, addMember, org_id, input);
    setLocation(c, get, { org_id: member.organizationId, member_id: member.membershipId });
    return c.json(await tagged(c, member.recordVersion, presentMember(member)), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const member = await getMember(c.env, org_id, member_id);
    return c.json(await tagged(c, member.recordVersion, presentMember(member)), 200);
  })
  .openapi(replace, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, org_id, member_id, role);
    return c.json(await tagged(c, member.recordVersion, presentMember(member)), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const { descendants } = c.req.valid("query");
    const remove = descendants === "revoke" ? removeMemberWithFamily : removeMember;
    await remove(c.env, org_id, member_id);
    return c.body(null, 204);
  });

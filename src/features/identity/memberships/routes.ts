import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { created, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { LAST_OWNER_KEY } from "../credentials/model.ts";
import {
  CREATOR_CHANGED,
  LAST_OWNER,
  MEMBER_EXISTS,
  ROLE_CHANGED,
  SERVICE_ACCOUNT_AS_OWNER,
} from "./model.ts";
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
  changeMemberRole,
  getMember,
  listMembers,
  removeMember,
  removeMemberWithFamily,
} from "./service.ts";

const OWNERS = "Adding, changing or removing an owner needs the role `owner`.";

const list = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members",
  operationId: "listMembers",
  tags: ["Organizations"],
  summary: "List the members of an organization",
  access: { scope: "members:read", role: "admin" },
  request: {
    params: OrganizationParams,
    query: namedListQuery(LIMITS.personLength.value),
  },
  responses: { 200: json(MemberList, "A page of members.") },
  notFound: ["organization"],
});

const get = apiRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "getMember",
  tags: ["Organizations"],
  summary: "Read a member of an organization",
  access: { scope: "members:read", role: "admin" },
  resource: true,
  request: { params: MemberParams },
  responses: { 200: json(Member, "The member.") },
  notFound: ["organization", "membership"],
});

const add = apiRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/members",
  operationId: "addMember",
  tags: ["Organizations"],
  summary: "Add a member to an organization",
  description:
    `Needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The member gets an account of its own in this organization, with the name and the ` +
    "profile of the request, also if the person is a member of other organizations. Where the " +
    "deployment does not trust administrators (`TRUST_ADMINS`), the member is `pending`: invite the " +
    "person instead.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  request: { params: OrganizationParams, body: jsonBody(AddMember) },
  responses: { 201: json(Member, "The member.") },
  notFound: ["organization"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    creator_changed: CREATOR_CHANGED,
    member_exists: MEMBER_EXISTS,
    member_limit: new LimitReached(QUOTAS.members, "members"),
  },
});

const replace = apiRoute({
  method: "put",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "replaceMember",
  tags: ["Organizations"],
  summary: "Replace the role of a member in an organization",
  description:
    `Giving a higher role needs a full credential (\`full\` in \`GET /v1/whoami\`). ${OWNERS} The last owner, and the owner with the last owner's key, cannot get another role. A ` +
    "service account cannot be an owner.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  changes: ["organization roles"],
  request: { params: MemberParams, body: jsonBody(ReplaceMember) },
  responses: { 200: json(Member, "The member.") },
  notFound: ["organization", "membership"],
  errors: {
    needs_owner_of_organization: Unauthorized.role("owner"),
    credential_not_full: NOT_FULL,
    last_owner: LAST_OWNER,
    last_owner_key: LAST_OWNER_KEY,
    role_changed: ROLE_CHANGED,
    service_account_as_owner: SERVICE_ACCOUNT_AS_OWNER,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "removeMember",
  tags: ["Organizations"],
  summary: "Remove a member from an organization",
  description:
    `${OWNERS} Deletes the member's keys and project roles too. What the member has made for others stays, ` +
    "unless `descendants=revoke` ends it, which needs a full credential. The last owner of the organization or of a project, and the " +
    "owner with the last owner's key, cannot be removed.",
  access: { scope: "members:write", role: "admin" },
  resource: true,
  request: { params: MemberParams, query: RemoveMemberQuery },
  responses: { 204: noContent },
  notFound: ["organization", "membership"],
  errors: {
    credential_not_full: NOT_FULL,
    needs_owner_of_organization: Unauthorized.role("owner"),
    last_owner: LAST_OWNER,
    last_owner_key: LAST_OWNER_KEY,
    role_changed: ROLE_CHANGED,
  },
});

export const membershipRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) =>
        listMembers(ctx, c.req.valid("param").org_id, toNamedPageRequest(c.req.valid("query"))),
      presentMember,
    ),
  )
  .openapi(add, (c) => {
    const body = c.req.valid("json");
    return created(
      c,
      get.path,
      (ctx) =>
        addMember(ctx, c.req.valid("param").org_id, { ...toNewAccount(body), role: body.role }),
      presentMember,
    );
  })
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(c, (ctx) => getMember(ctx, params.org_id, params.member_id), presentMember);
  })
  .openapi(replace, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => changeMemberRole(ctx, params.org_id, params.member_id, c.req.valid("json").role),
      presentMember,
    );
  })
  .openapi(remove, (c) => {
    const params = c.req.valid("param");
    const end =
      c.req.valid("query").descendants === "revoke" ? removeMemberWithFamily : removeMember;
    return done(c, (ctx) => end(ctx, params.org_id, params.member_id));
  });

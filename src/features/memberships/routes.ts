import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag, setLocation } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { namedListQuery, toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentMember, toNewAccount } from "./presenters.ts";
import { AddMember, MemberParams, RemoveMemberQuery, ReplaceMember } from "./schemas.ts";
import {
  addMember,
  changeMemberRole,
  getMember,
  listMembers,
  removeMember,
  removeMemberWithFamily,
} from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members",
  operationId: "listMembers",
  scope: "members:read",
  request: () => ({
    params: OrganizationParams(),
    query: namedListQuery(LIMITS.personLength.value),
  }),
});

const add = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/members",
  operationId: "addMember",
  status: 201,
  record: true,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(AddMember()) }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "getMember",
  record: true,
  scope: "members:read",
  request: () => ({ params: MemberParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "replaceMember",
  record: true,
  scope: "members:write",
  request: () => ({ params: MemberParams(), body: jsonBody(ReplaceMember()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "removeMember",
  status: 204,
  record: true,
  scope: "members:write",
  request: () => ({ params: MemberParams(), query: RemoveMemberQuery() }),
});

export const membershipRoutes = createRouter<Documented>()
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
    return jsonWithTag(c, member.recordVersion, presentMember(member), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const member = await getMember(c.env, org_id, member_id);
    return jsonWithTag(c, member.recordVersion, presentMember(member), 200);
  })
  .openapi(replace, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, org_id, member_id, role);
    return jsonWithTag(c, member.recordVersion, presentMember(member), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, member_id } = c.req.valid("param");
    const { descendants } = c.req.valid("query");
    const remove = descendants === "revoke" ? removeMemberWithFamily : removeMember;
    await remove(c.env, org_id, member_id);
    return c.body(null, 204);
  });

import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { namedListQuery, toNamedPageRequest } from "../../../http/pagination.ts";
import { OrganizationParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import { LIMITS } from "../../../lib/limits.ts";
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
  presentEach: presentMember,
  scope: "members:read",
  request: () => ({
    params: OrganizationParams(),
    query: namedListQuery(LIMITS.personLength.value),
  }),
});

const get = operation({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "getMember",
  resource: true,
  present: presentMember,
  scope: "members:read",
  request: () => ({ params: MemberParams() }),
});

const add = operation({
  method: "post",
  path: "/v1/orgs/{org_id}/members",
  operationId: "addMember",
  status: 201,
  resource: true,
  present: presentMember,
  location: get,
  scope: "members:write",
  request: () => ({ params: OrganizationParams(), body: jsonBody(AddMember()) }),
});

const replace = operation({
  method: "put",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "replaceMember",
  resource: true,
  present: presentMember,
  scope: "members:write",
  request: () => ({ params: MemberParams(), body: jsonBody(ReplaceMember()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{member_id}",
  operationId: "removeMember",
  status: 204,
  resource: true,
  scope: "members:write",
  request: () => ({ params: MemberParams(), query: RemoveMemberQuery() }),
});

export const membershipRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) =>
    listMembers(ctx, params.org_id, toNamedPageRequest(query)),
  )
  .handle(add, ({ ctx, params, body }) =>
    addMember(ctx, params.org_id, { ...toNewAccount(body), role: body.role }),
  )
  .handle(get, ({ ctx, params }) => getMember(ctx, params.org_id, params.member_id))
  .handle(replace, ({ ctx, params, body }) =>
    changeMemberRole(ctx, params.org_id, params.member_id, body.role),
  )
  .handle(remove, ({ ctx, params, query }) => {
    const end = query.descendants === "revoke" ? removeMemberWithFamily : removeMember;
    return end(ctx, params.org_id, params.member_id);
  });

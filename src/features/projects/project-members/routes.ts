import { jsonBody } from "../../../http/bodies.ts";
import { operation } from "../../../http/operation.ts";
import { toNamedPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentProjectMember, presentProjectMembers } from "./presenters.ts";
import {
  AddProjectMembers,
  ProjectMemberParams,
  ProjectMemberQuery,
  ReplaceProjectMember,
} from "./schemas.ts";
import { addMembers, changeMemberRole, getMember, listMembers, removeMember } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/members",
  operationId: "listProjectMembers",
  presentEach: presentProjectMember,
  scope: "projects:read",
  request: () => ({ params: ProjectParams(), query: ProjectMemberQuery() }),
});

const add = operation({
  method: "post",
  path: "/v1/projects/{project_id}/members",
  operationId: "addProjectMembers",
  status: 201,
  present: presentProjectMembers,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(AddProjectMembers()) }),
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "getProjectMember",
  resource: true,
  present: presentProjectMember,
  scope: "projects:read",
  request: () => ({ params: ProjectMemberParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "replaceProjectMember",
  resource: true,
  present: presentProjectMember,
  scope: "projects:write",
  request: () => ({ params: ProjectMemberParams(), body: jsonBody(ReplaceProjectMember()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "removeProjectMember",
  status: 204,
  resource: true,
  scope: "projects:write",
  request: () => ({ params: ProjectMemberParams() }),
});

export const projectMemberRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) => {
    const page = { ...toNamedPageRequest(query), roles: query.role ?? [] };
    return listMembers(ctx, params.project_id, page);
  })
  .handle(add, ({ ctx, params, body: { member_ids: membershipIds, role } }) =>
    addMembers(ctx, params.project_id, { membershipIds, role }),
  )
  .handle(get, ({ ctx, params }) => getMember(ctx, params.project_id, params.member_id))
  .handle(replace, ({ ctx, params, body }) =>
    changeMemberRole(ctx, params.project_id, params.member_id, body.role),
  )
  .handle(remove, ({ ctx, params }) => removeMember(ctx, params.project_id, params.member_id));

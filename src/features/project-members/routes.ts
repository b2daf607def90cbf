import { jsonBody } from "../../http/bodies.ts";
import { jsonWithTag } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { createRouter } from "../../http/router.ts";
import { once } from "../idempotency/index.ts";
import type { Documented } from "./document.ts";
import { presentProjectMember } from "./presenters.ts";
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
  scope: "projects:read",
  request: () => ({ params: ProjectParams(), query: ProjectMemberQuery() }),
});

const add = operation({
  method: "post",
  path: "/v1/projects/{project_id}/members",
  operationId: "addProjectMembers",
  status: 201,
  scope: "projects:write",
  request: () => ({ params: ProjectParams(), body: jsonBody(AddProjectMembers()) }),
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "getProjectMember",
  record: true,
  scope: "projects:read",
  request: () => ({ params: ProjectMemberParams() }),
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "replaceProjectMember",
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectMemberParams(), body: jsonBody(ReplaceProjectMember()) }),
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "removeProjectMember",
  status: 204,
  record: true,
  scope: "projects:write",
  request: () => ({ params: ProjectMemberParams() }),
});

export const projectMemberRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toNamedPageRequest(query), roles: query.role ?? [] };
    const members = await listMembers(c.env, c.req.valid("param").project_id, page);
    return c.json(toEnvelope(members, presentProjectMember), 200);
  })
  .openapi(add, async (c) => {
    const { project_id } = c.req.valid("param");
    const { member_ids, role } = c.req.valid("json");
    const input = { membershipIds: member_ids, role };
    const members = await once(c.env, addMembers, project_id, input);
    return c.json(members.map(presentProjectMember), 201);
  })
  .openapi(get, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    const member = await getMember(c.env, project_id, member_id);
    return jsonWithTag(c, member.recordVersion, presentProjectMember(member), 200);
  })
  .openapi(replace, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, project_id, member_id, role);
    return jsonWithTag(c, member.recordVersion, presentProjectMember(member), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    await removeMember(c.env, project_id, member_id);
    return c.body(null, 204);
  });

import { createRoute } from "@hono/zod-openapi";
import { toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  NO_CONTENT,
} from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentProjectMember } from "./presenters.ts";
import {
  AddedProjectMembers,
  AddProjectMembers,
  ProjectMember,
  ProjectMemberList,
  ProjectMemberParams,
  ProjectMemberQuery,
  ReplaceProjectMember,
} from "./schemas.ts";
import { addMembers, changeMemberRole, getMember, listMembers, removeMember } from "./service.ts";

const list = createRoute({
  method: "get",
  path: "/v1/projects/{project_id}/members",
  operationId: "listProjectMembers",
  tags: ["Project members"],
  summary: "List the members of a project",
  description: NEEDS.viewer,
  security: API_KEY,
  request: { params: ProjectParams, query: ProjectMemberQuery },
  responses: { 200: jsonReply(ProjectMemberList, "A page of members."), ...ERROR_REPLIES },
});

const add = createRoute({
  method: "post",
  path: "/v1/projects/{project_id}/members",
  operationId: "addProjectMembers",
  tags: ["Project members"],
  summary: "Add members to a project",
  description:
    `${NEEDS.owner} Adds all of them or none: a membership that is already in the project is a ` +
    "`conflict`, an unknown one is `not_found`.",
  security: API_KEY,
  request: { params: ProjectParams, body: jsonBody(AddProjectMembers) },
  responses: { 201: jsonReply(AddedProjectMembers, "The added members."), ...ERROR_REPLIES },
});

const get = createRoute({
  method: "get",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "getProjectMember",
  tags: ["Project members"],
  summary: "Read a member of a project",
  description: NEEDS.viewer,
  security: API_KEY,
  request: { params: ProjectMemberParams },
  responses: { 200: jsonReply(ProjectMember, "The member."), ...ERROR_REPLIES },
});

const replace = createRoute({
  method: "put",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "replaceProjectMember",
  tags: ["Project members"],
  summary: "Replace the role of a member in a project",
  description: `${NEEDS.owner} The role of the last owner cannot change (\`conflict\`).`,
  security: API_KEY,
  request: { params: ProjectMemberParams, body: jsonBody(ReplaceProjectMember) },
  responses: { 200: jsonReply(ProjectMember, "The member."), ...ERROR_REPLIES },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "removeProjectMember",
  tags: ["Project members"],
  summary: "Remove a member from a project",
  description: `${NEEDS.owner} The last owner of a project cannot be removed (\`conflict\`).`,
  security: API_KEY,
  request: { params: ProjectMemberParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
});

export const projectMemberRoutes = createRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query");
    const page = { ...toPageRequest(query), roles: query.role ?? [] };
    const members = await listMembers(c.env, c.req.valid("param").project_id, page);
    return c.json(toEnvelope(members, presentProjectMember), 200);
  })
  .openapi(add, async (c) => {
    const { member_ids, role } = c.req.valid("json");
    const input = { membershipIds: member_ids, role };
    const members = await addMembers(c.env, c.req.valid("param").project_id, input);
    return c.json(members.map(presentProjectMember), 201);
  })
  .openapi(get, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    return c.json(presentProjectMember(await getMember(c.env, project_id, member_id)), 200);
  })
  .openapi(replace, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, project_id, member_id, role);
    return c.json(presentProjectMember(member), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    await removeMember(c.env, project_id, member_id);
    return c.body(null, 204);
  });

import { tagged } from "../../http/entity-tags.ts";
import { operation } from "../../http/operation.ts";
import { toEnvelope, toNamedPageRequest } from "../../http/pagination.ts";
import { ProjectParams } from "../../http/params.ts";
import { jsonBody, jsonReply, NO_CONTENT } from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { once } from "../idempotency/index.ts";
import { PENDING_MEMBER } from "../memberships/index.ts";
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

const list = operation({
  method: "get",
  path: "/v1/projects/{project_id}/members",
  operationId: "listProjectMembers",
  tags: ["Project members"],
  summary: "List the members of a project",
  role: "viewer",
  scope: "projects:read",
  notFound: ["project"],
  request: { params: ProjectParams(), query: ProjectMemberQuery() },
  responses: { 200: jsonReply(ProjectMemberList(), "A page of members.") },
});

const add = operation({
  method: "post",
  path: "/v1/projects/{project_id}/members",
  operationId: "addProjectMembers",
  tags: ["Project members"],
  summary: "Add members to a project",
  role: "owner",
  scope: "projects:write",
  description:
    `Adds all of them or none. A membership that is already in the project is a ` +
    "`conflict`; an unknown one is `not_found`.",
  notFound: ["project", "membership"],
  errors: {
    pending_member: new Conflict(PENDING_MEMBER),
    project_member_exists: new Conflict(
      "One of the memberships is already in the project; none was added.",
    ),
    project_member_limit: new LimitReached(LIMITS.projectMembers.value, "project members"),
  },
  request: { params: ProjectParams(), body: jsonBody(AddProjectMembers()) },
  responses: { 201: jsonReply(AddedProjectMembers(), "The added members.") },
});

const get = operation({
  method: "get",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "getProjectMember",
  tags: ["Project members"],
  summary: "Read a member of a project",
  role: "viewer",
  record: true,
  scope: "projects:read",
  notFound: ["project", "member of the project"],
  request: { params: ProjectMemberParams() },
  responses: { 200: jsonReply(ProjectMember(), "The member.") },
});

const replace = operation({
  method: "put",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "replaceProjectMember",
  tags: ["Project members"],
  summary: "Replace the role of a member in a project",
  role: "owner",
  record: true,
  scope: "projects:write",
  description: `The last owner of a project cannot get another role.`,
  notFound: ["project", "member of the project"],
  errors: {
    last_project_owner: new Conflict(
      "A project needs at least one owner. Make another member owner first.",
    ),
  },
  request: { params: ProjectMemberParams(), body: jsonBody(ReplaceProjectMember()) },
  responses: { 200: jsonReply(ProjectMember(), "The member.") },
});

const remove = operation({
  method: "delete",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "removeProjectMember",
  tags: ["Project members"],
  summary: "Remove a member from a project",
  role: "owner",
  record: true,
  scope: "projects:write",
  description: `The last owner of a project cannot be removed.`,
  notFound: ["project", "member of the project"],
  errors: {
    last_project_owner: new Conflict(
      "A project needs at least one owner. Make another member owner first.",
    ),
  },
  request: { params: ProjectMemberParams() },
  responses: { 204: NO_CONTENT },
});

export const projectMemberRoutes = createRouter()
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
    return c.json(await tagged(c, member.recordVersion, presentProjectMember(member)), 200);
  })
  .openapi(replace, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, project_id, member_id, role);
    return c.json(await tagged(c, member.recordVersion, presentProjectMember(member)), 200);
  })
  .openapi(remove, async (c) => {
    const { project_id, member_id } = c.req.valid("param");
    await removeMember(c.env, project_id, member_id);
    return c.body(null, 204);
  });

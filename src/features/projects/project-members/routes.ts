import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { toNamedPageRequest } from "../../../http/pagination.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createdHere, done, json, noContent, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { PENDING_MEMBER } from "../../identity/memberships/index.ts";
import { EXISTING_MEMBER, LAST_OWNER } from "./model.ts";
import { presentProjectMember, presentProjectMembers } from "./presenters.ts";
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

const list = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/members",
  operationId: "listProjectMembers",
  tags: ["Project members"],
  summary: "List the members of a project",
  access: { scope: "projects:read", role: "viewer" },
  request: { params: ProjectParams, query: ProjectMemberQuery },
  responses: { 200: json(ProjectMemberList, "A page of members.") },
  notFound: ["project"],
});

const add = apiRoute({
  method: "post",
  path: "/v1/projects/{project_id}/members",
  operationId: "addProjectMembers",
  tags: ["Project members"],
  summary: "Add members to a project",
  description:
    `Adds all of them or none. A membership that is already in the project is a ` +
    "`conflict`; an unknown one is `not_found`.",
  access: { scope: "projects:write", role: "owner" },
  changes: ["project roles"],
  request: { params: ProjectParams, body: jsonBody(AddProjectMembers) },
  responses: { 201: json(AddedProjectMembers, "The added members.") },
  notFound: ["project", "membership"],
  errors: {
    pending_member: PENDING_MEMBER,
    project_member_exists: EXISTING_MEMBER,
    project_member_limit: new LimitReached(QUOTAS.project_members, "project members"),
  },
});

const get = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "getProjectMember",
  tags: ["Project members"],
  summary: "Read a member of a project",
  access: { scope: "projects:read", role: "viewer" },
  resource: true,
  request: { params: ProjectMemberParams },
  responses: { 200: json(ProjectMember, "The member.") },
  notFound: ["project", "member of the project"],
});

const replace = apiRoute({
  method: "put",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "replaceProjectMember",
  tags: ["Project members"],
  summary: "Replace the role of a member in a project",
  description: `The last owner of a project cannot get another role.`,
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  changes: ["project roles"],
  request: { params: ProjectMemberParams, body: jsonBody(ReplaceProjectMember) },
  responses: { 200: json(ProjectMember, "The member.") },
  notFound: ["project", "member of the project"],
  errors: {
    last_project_owner: LAST_OWNER,
  },
});

const remove = apiRoute({
  method: "delete",
  path: "/v1/projects/{project_id}/members/{member_id}",
  operationId: "removeProjectMember",
  tags: ["Project members"],
  summary: "Remove a member from a project",
  description: `The last owner of a project cannot be removed.`,
  access: { scope: "projects:write", role: "owner" },
  resource: true,
  changes: ["project roles"],
  request: { params: ProjectMemberParams },
  responses: { 204: noContent },
  notFound: ["project", "member of the project"],
  errors: {
    last_project_owner: LAST_OWNER,
  },
});

export const projectMemberRoutes = createRouter()
  .openapi(list, (c) => {
    const query = c.req.valid("query");
    const request = { ...toNamedPageRequest(query), roles: query.role ?? [] };
    return page(
      c,
      (ctx) => listMembers(ctx, c.req.valid("param").project_id, request),
      presentProjectMember,
    );
  })
  .openapi(add, (c) => {
    const { member_ids: membershipIds, role } = c.req.valid("json");
    return createdHere(
      c,
      (ctx) => addMembers(ctx, c.req.valid("param").project_id, { membershipIds, role }),
      presentProjectMembers,
    );
  })
  .openapi(get, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => getMember(ctx, params.project_id, params.member_id),
      presentProjectMember,
    );
  })
  .openapi(replace, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => changeMemberRole(ctx, params.project_id, params.member_id, c.req.valid("json").role),
      presentProjectMember,
    );
  })
  .openapi(remove, (c) => {
    const params = c.req.valid("param");
    return done(c, (ctx) => removeMember(ctx, params.project_id, params.member_id));
  });

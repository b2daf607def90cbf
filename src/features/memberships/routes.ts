import { createRoute } from "@hono/zod-openapi";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { OrganizationParams } from "../../http/params.ts";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  NO_CONTENT,
} from "../../http/replies.ts";
import { createRouter } from "../../http/router.ts";
import { presentMember, toNewAccount } from "./presenters.ts";
import { AddMember, Member, MemberList, MemberParams, ReplaceMember } from "./schemas.ts";
import { addMember, changeMemberRole, getMember, listMembers, removeMember } from "./service.ts";

const OWNER_FOR_OWNERS = `${NEEDS.admin} Only an owner adds, changes or removes an owner.`;

const list = createRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members",
  operationId: "listMembers",
  tags: ["Organizations"],
  summary: "List the members of an organization",
  description: NEEDS.admin,
  security: API_KEY,
  request: { params: OrganizationParams, query: ListQuery },
  responses: { 200: jsonReply(MemberList, "A page of members."), ...ERROR_REPLIES },
});

const add = createRoute({
  method: "post",
  path: "/v1/orgs/{org_id}/members",
  operationId: "addMember",
  tags: ["Organizations"],
  summary: "Add a member to an organization",
  description:
    `${OWNER_FOR_OWNERS} If the e-mail address already has an account, the account is added ` +
    "unchanged, and the name and profile of the request are ignored.",
  security: API_KEY,
  request: { params: OrganizationParams, body: jsonBody(AddMember) },
  responses: { 201: jsonReply(Member, "The member."), ...ERROR_REPLIES },
});

const get = createRoute({
  method: "get",
  path: "/v1/orgs/{org_id}/members/{membership_id}",
  operationId: "getMember",
  tags: ["Organizations"],
  summary: "Read a member of an organization",
  description: NEEDS.admin,
  security: API_KEY,
  request: { params: MemberParams },
  responses: { 200: jsonReply(Member, "The member."), ...ERROR_REPLIES },
});

const replace = createRoute({
  method: "put",
  path: "/v1/orgs/{org_id}/members/{membership_id}",
  operationId: "replaceMember",
  tags: ["Organizations"],
  summary: "Replace the role of a member in an organization",
  description: `${OWNER_FOR_OWNERS} The role of the last owner cannot change (\`conflict\`).`,
  security: API_KEY,
  request: { params: MemberParams, body: jsonBody(ReplaceMember) },
  responses: { 200: jsonReply(Member, "The member."), ...ERROR_REPLIES },
});

const remove = createRoute({
  method: "delete",
  path: "/v1/orgs/{org_id}/members/{membership_id}",
  operationId: "removeMember",
  tags: ["Organizations"],
  summary: "Remove a member from an organization",
  description:
    `${OWNER_FOR_OWNERS} Also deletes the member's keys and project memberships. The last owner of ` +
    "the organization, or of a project, cannot be removed (`conflict`).",
  security: API_KEY,
  request: { params: MemberParams },
  responses: { 204: NO_CONTENT, ...ERROR_REPLIES },
});

export const membershipRoutes = createRouter()
  .openapi(list, async (c) => {
    const { org_id } = c.req.valid("param");
    const page = await listMembers(c.env, org_id, toPageRequest(c.req.valid("query")));
    return c.json(toEnvelope(page, presentMember), 200);
  })
  .openapi(add, async (c) => {
    const { org_id } = c.req.valid("param");
    const body = c.req.valid("json");
    const member = await addMember(c.env, org_id, { ...toNewAccount(body), role: body.role });
    return c.json(presentMember(member), 201);
  })
  .openapi(get, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    return c.json(presentMember(await getMember(c.env, org_id, membership_id)), 200);
  })
  .openapi(replace, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    const { role } = c.req.valid("json");
    const member = await changeMemberRole(c.env, org_id, membership_id, role);
    return c.json(presentMember(member), 200);
  })
  .openapi(remove, async (c) => {
    const { org_id, membership_id } = c.req.valid("param");
    await removeMember(c.env, org_id, membership_id);
    return c.body(null, 204);
  });

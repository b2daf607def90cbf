import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { PENDING_MEMBER } from "../../identity/memberships/index.ts";
import { EXISTING_MEMBER, LAST_OWNER } from "./model.ts";
import { AddedProjectMembers, ProjectMember, ProjectMemberList } from "./responses.ts";

const operations = {
  listProjectMembers: {
    tags: ["Project members"],
    summary: "List the members of a project",
    role: "viewer",
    notFound: ["project"],
    responses: { 200: jsonReply(ProjectMemberList(), "A page of members.") },
  },
  addProjectMembers: {
    tags: ["Project members"],
    summary: "Add members to a project",
    role: "owner",
    changes: ["project roles"],
    description:
      `Adds all of them or none. A membership that is already in the project is a ` +
      "`conflict`; an unknown one is `not_found`.",
    notFound: ["project", "membership"],
    errors: {
      pending_member: PENDING_MEMBER,
      project_member_exists: EXISTING_MEMBER,
      project_member_limit: new LimitReached(QUOTAS.project_members, "project members"),
    },
    responses: { 201: jsonReply(AddedProjectMembers(), "The added members.") },
  },
  getProjectMember: {
    tags: ["Project members"],
    summary: "Read a member of a project",
    role: "viewer",
    notFound: ["project", "member of the project"],
    responses: { 200: jsonReply(ProjectMember(), "The member.") },
  },
  replaceProjectMember: {
    tags: ["Project members"],
    summary: "Replace the role of a member in a project",
    role: "owner",
    changes: ["project roles"],
    description: `The last owner of a project cannot get another role.`,
    notFound: ["project", "member of the project"],
    errors: {
      last_project_owner: LAST_OWNER,
    },
    responses: { 200: jsonReply(ProjectMember(), "The member.") },
  },
  removeProjectMember: {
    tags: ["Project members"],
    summary: "Remove a member from a project",
    role: "owner",
    changes: ["project roles"],
    description: `The last owner of a project cannot be removed.`,
    notFound: ["project", "member of the project"],
    errors: {
      last_project_owner: LAST_OWNER,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [{ name: "Project members", description: "The roles of members in a project." }];

export const document: FeatureDocument = { tags, operations };

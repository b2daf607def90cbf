import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached, Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NAME_TAKEN, PROJECT_IN_USE } from "./model.ts";
import { Project, ProjectList } from "./responses.ts";
import { ONLY_IN_PROJECTS } from "./service.ts";

const READABLE = "Returns the projects that you may read. An admin may read all of them.";

const operations = {
  listProjects: {
    tags: ["Projects"],
    summary: "List the projects of your organization",
    description: READABLE,
    responses: { 200: jsonReply(ProjectList(), "A page of projects.") },
  },
  listProjectsOfOrganization: {
    tags: ["Projects"],
    summary: "List the projects of an organization",
    description: READABLE,
    notFound: ["organization"],
    responses: { 200: jsonReply(ProjectList(), "A page of projects.") },
  },
  createProject: {
    tags: ["Projects"],
    summary: "Create a project",
    description:
      "You become its owner. A new project has one environment, `production`. Its name is unique in the organization.",
    // For a repeat with an `Idempotency-Key`.
    notFound: ["project"],
    errors: {
      project_name_taken: NAME_TAKEN,
      key_of_projects: new Unauthorized(ONLY_IN_PROJECTS),
      project_limit: new LimitReached(QUOTAS.projects, "projects"),
    },
    responses: { 201: jsonReply(Project(), "The project.") },
  },
  getProject: {
    tags: ["Projects"],
    summary: "Read a project",
    role: "viewer",
    notFound: ["project"],
    responses: { 200: jsonReply(Project(), "The project.") },
  },
  replaceProject: {
    tags: ["Projects"],
    summary: "Replace a project",
    role: "owner",
    description: `Clears optional fields that the body leaves out, except the name.`,
    notFound: ["project", "environment in the project"],
    errors: {
      project_name_taken: NAME_TAKEN,
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(Project(), "The project.") },
  },
  updateProject: {
    tags: ["Projects"],
    summary: "Change some fields of a project",
    role: "owner",
    description:
      "A field that is absent stays as it is; `null` clears a description, an icon or a repository.",
    notFound: ["project", "environment in the project"],
    errors: {
      project_name_taken: NAME_TAKEN,
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(Project(), "The project.") },
  },
  deleteProject: {
    tags: ["Projects"],
    summary: "Delete a project",
    role: "owner",
    changes: ["the project"],
    description: `Deletes its environments and the roles of its members too.`,
    notFound: ["project"],
    errors: {
      project_in_use: PROJECT_IN_USE,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Projects",
    description: "The applications of a team, and their connections to a cloud provider.",
  },
];

export const document: FeatureDocument = { tags, operations };

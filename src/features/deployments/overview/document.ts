import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { ProjectOverview } from "./responses.ts";

const operations = {
  getProjectOverview: {
    tags: ["Projects"],
    summary: "Read a project with its environments, what runs there, and what waits",
    role: "viewer",
    description:
      "Needs the scopes `environments:read` and `deployments:read`, too. The environments are pages of a " +
      "list, each with what runs in it and since when, its health, and its queued and last deployments. Clients show them " +
      "by `position`; those without one last, the oldest first.",
    notFound: ["project"],
    errors: {
      lacks_environments: Unauthorized.scope("environments:read"),
      lacks_deployments: Unauthorized.scope("deployments:read"),
    },
    responses: {
      200: jsonReply(ProjectOverview(), "The project, and a page of its environments."),
    },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

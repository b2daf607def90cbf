import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { ProjectOverview } from "./responses.ts";

const operations = {
  getProjectOverview: {
    tags: ["Projects"],
    summary: "Read a project with its environments and what is deployed there",
    role: "viewer",
    description:
      "Needs the scopes `environments:read` and `deployments:read`, too. The environments are pages of a " +
      "list, each with the deployment that is active in it and the last one that has ended.",
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

import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { Project } from "../../projects/projects/responses.ts";
import { DISCONNECTING } from "./model.ts";

const operations = {
  connectProject: {
    tags: ["Projects"],
    summary: "Connect a project to a cloud provider",
    role: "owner",
    description:
      "Replaces an existing connection. `ETag` and `If-Match` are of the project. A project that is " +
      "disconnecting is a `conflict`.",
    notFound: ["project"],
    errors: { project_disconnecting: DISCONNECTING },
    responses: { 200: jsonReply(Project(), "The project, now connected.") },
  },
  disconnectProject: {
    tags: ["Projects"],
    summary: "Disconnect a project from its cloud provider",
    role: "owner",
    description:
      `Cancels unfinished deployments: the project is \`disconnecting\` until the ` +
      "last of them has ended. Has no effect on a disconnected project.",
    notFound: ["project"],
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { Project } from "../../projects/projects/responses.ts";
import { DISCONNECTING } from "./model.ts";
import { Connection } from "./responses.ts";

const operations = {
  getConnection: {
    tags: ["Projects"],
    summary: "Read where a project is deployed to",
    role: "viewer",
    description: "A project that is not connected has none.",
    notFound: ["project", "connection of the project"],
    responses: { 200: jsonReply(Connection(), "The connection.") },
  },
  connectProject: {
    tags: ["Projects"],
    summary: "Connect a project to where it is deployed",
    role: "owner",
    changes: ["the connection"],
    description:
      "Replaces an existing connection. `ETag` and `If-Match` are of the project. A project that is " +
      "disconnecting is a `conflict`.",
    notFound: ["project"],
    errors: { project_disconnecting: DISCONNECTING },
    responses: { 200: jsonReply(Project(), "The project, now connected.") },
  },
  disconnectProject: {
    tags: ["Projects"],
    summary: "Disconnect a project",
    role: "owner",
    changes: ["the connection"],
    description:
      `Cancels unfinished deployments: the project is \`disconnecting\` until the ` +
      "last of them has ended. Until it is connected again, nothing is deployed. Has no effect on a project that is " +
      "disconnected already.",
    notFound: ["project"],
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { ProjectEventList } from "./responses.ts";

const operations = {
  listEvents: {
    tags: ["Events"],
    summary: "List the events of a project",
    role: "viewer",
    description:
      "Returns every event, whether or not an integration received it. A key that is narrowed to " +
      "environments reads their events, and those of the project as a whole.",
    notFound: ["project"],
    responses: { 200: jsonReply(ProjectEventList(), "A page of events.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Events",
    description:
      "What happened in a project. Integrations receive the events that they subscribe to.",
  },
];

export const document: FeatureDocument = { tags, operations };

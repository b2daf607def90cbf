import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Usage } from "./responses.ts";

const operations = {
  getUsage: {
    tags: ["Organizations"],
    summary: "Read what an organization stores",
    role: "admin",
    description:
      `A request that would exceed a quota is a \`conflict\` that names it. Reading, ` +
      "deleting, canceling and requests of runners are never refused because of a quota, except for " +
      "a new alarm.",
    notFound: ["organization"],
    responses: { 200: jsonReply(Usage(), "The usage.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

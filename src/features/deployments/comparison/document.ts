import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { EnvironmentComparison } from "./responses.ts";

const operations = {
  compareEnvironments: {
    tags: ["Environments"],
    summary: "Compare an environment with another of its project",
    role: "viewer",
    description:
      "What differs in the source, the configuration and the names of variables. It has no values of variables, " +
      "and does not say whether they are equal.",
    notFound: ["environment", "environment in the project"],
    responses: { 200: jsonReply(EnvironmentComparison(), "The differences.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

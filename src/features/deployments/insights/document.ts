import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { EnvironmentInsightsList } from "./responses.ts";

const operations = {
  listInsights: {
    tags: ["Projects"],
    summary: "List how the deployments of a project ended, by environment and day",
    role: "viewer",
    description:
      "Needs the scope `environments:read`, too. Each deployment is counted once, on the day (UTC) on which it reaches its " +
      "final status. Durations are counted in 64 buckets, below one second and " +
      "three for each doubling: a percentile is the middle of its bucket, at most 26 % from the exact one above one second. " +
      "Days are kept as long as the changelog, normally 400 days.",
    notFound: ["project"],
    errors: { lacks_environments: Unauthorized.scope("environments:read") },
    responses: { 200: jsonReply(EnvironmentInsightsList(), "A page of environments.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { RunnerPoolAttemptList, RunnerPoolRunnerList } from "./responses.ts";

const operations = {
  listRunnerPoolAttempts: {
    tags: ["Runner pools"],
    summary: "List the live attempts of a runner pool",
    role: "admin",
    description:
      "Needs the scope `deployments:read`, too. Returns the deployments that the pool's runners have been " +
      "offered or execute now. An attempt leaves the list when it ends, and when its runner is lost.",
    notFound: ["organization", "runner pool"],
    errors: { lacks_deployments: Unauthorized.scope("deployments:read") },
    responses: { 200: jsonReply(RunnerPoolAttemptList(), "A page of attempts.") },
  },
  listRunnerPoolRunners: {
    tags: ["Runner pools"],
    summary: "List the runners of a runner pool that are online",
    role: "admin",
    description:
      "Needs the scope `deployments:read`, too. Returns the runners that have asked for work in the last " +
      `${durationOf(LIMITS.runnerOnlineMs.value)}, or that have a deployment now. Of a pool, the ` +
      `${LIMITS.runnersOfPool.value} that asked last are kept.`,
    notFound: ["organization", "runner pool"],
    errors: { lacks_deployments: Unauthorized.scope("deployments:read") },
    responses: { 200: jsonReply(RunnerPoolRunnerList(), "A page of runners.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

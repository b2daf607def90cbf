import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { ENVIRONMENT, NAME_TAKEN, POOL_IN_USE } from "./model.ts";
import { RunnerPool, RunnerPoolList } from "./responses.ts";

const operations = {
  listRunnerPools: {
    tags: ["Runner pools"],
    summary: "List the runner pools of an organization",
    role: "admin",
    notFound: ["organization"],
    responses: { 200: jsonReply(RunnerPoolList(), "A page of runner pools.") },
  },
  createRunnerPool: {
    tags: ["Runner pools"],
    summary: "Create a runner pool",
    role: "admin",
    changes: ["runner pools and their tokens"],
    description: `Its runners may claim the deployments of its environments.`,
    notFound: ["organization", ENVIRONMENT],
    errors: {
      pool_name_taken: NAME_TAKEN,
      pool_limit: new LimitReached(QUOTAS.runner_pools, "runner pools"),
    },
    responses: { 201: jsonReply(RunnerPool(), "The runner pool.") },
  },
  getRunnerPool: {
    tags: ["Runner pools"],
    summary: "Read a runner pool",
    role: "admin",
    notFound: ["organization", "runner pool"],
    responses: { 200: jsonReply(RunnerPool(), "The runner pool.") },
  },
  updateRunnerPool: {
    tags: ["Runner pools"],
    summary: "Change a runner pool",
    role: "admin",
    changes: ["runner pools and their tokens"],
    description:
      "A field that is absent stays as it is. Attempts that the pool's runners have claimed continue: other " +
      "environments apply to the next claims, and another maximum duration to the next starts.",
    notFound: ["organization", "runner pool", ENVIRONMENT],
    errors: {
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
      pool_name_taken: NAME_TAKEN,
    },
    responses: { 200: jsonReply(RunnerPool(), "The runner pool.") },
  },
  deleteRunnerPool: {
    tags: ["Runner pools"],
    summary: "Delete a runner pool",
    role: "admin",
    changes: ["runner pools and their tokens"],
    description:
      `Deletes its tokens and the trusts that name it, too. While one of its runners executes a deployment, this ` +
      "is a `conflict`.",
    notFound: ["organization", "runner pool"],
    errors: {
      pool_in_use: POOL_IN_USE,
    },
    responses: { 204: NO_CONTENT },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Runner pools",
    description: "Groups of runners, and the environments whose deployments they execute.",
  },
];

export const document: FeatureDocument = { tags, operations };

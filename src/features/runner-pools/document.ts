import type { FeatureDocument, OperationDocuments } from "../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../document/replies.ts";
import { BadInput, Conflict, LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { QUOTAS } from "../../lib/resource-types.ts";
import { IN_THE_PAST } from "../../lib/schemas.ts";
import { ENVIRONMENT, NAME_TAKEN, POOL_IN_USE } from "./model.ts";
import {
  CreatedRunnerToken,
  RunnerPool,
  RunnerPoolList,
  RunnerToken,
  RunnerTokenList,
} from "./responses.ts";
import { CREATOR_REVOKED, NOT_ROTATED, TOKEN_OUTLIVES_KEY } from "./token-service.ts";

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
    description:
      `Deletes its tokens and the trusts that name it, too. While one of its runners executes a deployment, this ` +
      "is a `conflict`.",
    notFound: ["organization", "runner pool"],
    errors: {
      pool_in_use: POOL_IN_USE,
    },
    responses: { 204: NO_CONTENT },
  },
  listRunnerTokens: {
    tags: ["Runner pools"],
    summary: "List the tokens of a runner pool",
    role: "admin",
    description:
      "Without the tokens themselves. A token that has expired remains until it is revoked, except for " +
      "a token of a trust, which is removed.",
    notFound: ["organization", "runner pool"],
    responses: { 200: jsonReply(RunnerTokenList(), "A page of runner tokens.") },
  },
  createRunnerToken: {
    tags: ["Runner pools"],
    summary: "Create a runner token",
    role: "admin",
    description: `The token is valid for the runner endpoints, \`/v1/runner/*\`.`,
    notFound: ["organization", "runner pool"],
    errors: {
      token_expires_in_the_past: new BadInput([{ path: "expires_at", message: IN_THE_PAST }]),
      creator_revoked: new Conflict(CREATOR_REVOKED),
      token_outlives_key: new BadInput([{ path: "expires_at", message: TOKEN_OUTLIVES_KEY }]),
      runner_token_limit: new LimitReached(QUOTAS.runner_tokens, "runner tokens"),
      pool_token_limit: new LimitReached(
        LIMITS.runnerTokensOfPool.value,
        "tokens of a runner pool",
      ),
    },
    responses: { 201: jsonReply(CreatedRunnerToken(), "The token, shown once.") },
  },
  getRunnerToken: {
    tags: ["Runner pools"],
    summary: "Read a runner token",
    role: "admin",
    description: "The response does not contain the token itself.",
    notFound: ["organization", "runner token"],
    responses: { 200: jsonReply(RunnerToken(), "The runner token.") },
  },
  rotateRunnerToken: {
    tags: ["Runner pools"],
    summary: "Rotate a runner token",
    role: "admin",
    description:
      "Creates a token with the same name, which is valid for as long as the old one was, but not longer " +
      "than your own key. The old token is revoked, or expires after the overlap.",
    notFound: ["organization", "runner token"],
    errors: {
      creator_revoked: new Conflict(CREATOR_REVOKED),
      token_of_trust: new Conflict(NOT_ROTATED),
      runner_token_limit: new LimitReached(QUOTAS.runner_tokens, "runner tokens"),
      pool_token_limit: new LimitReached(
        LIMITS.runnerTokensOfPool.value,
        "tokens of a runner pool",
      ),
    },
    responses: { 201: jsonReply(CreatedRunnerToken(), "The new token, shown once.") },
  },
  revokeRunnerToken: {
    tags: ["Runner pools"],
    summary: "Revoke a runner token",
    role: "admin",
    description: `The token's next request is refused.`,
    notFound: ["organization", "runner token"],
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

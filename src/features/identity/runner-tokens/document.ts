import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { BadInput, Conflict, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { IN_THE_PAST } from "../../../lib/schemas.ts";
import { CreatedRunnerToken, RunnerToken, RunnerTokenList } from "./responses.ts";
import { CREATOR_REVOKED, NOT_ROTATED, TOKEN_OUTLIVES_KEY } from "./service.ts";

const operations = {
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
    changes: ["runner pools and their tokens"],
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
    changes: ["runner pools and their tokens"],
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

export const document: FeatureDocument = { operations };

import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { NOT_FULL } from "../../housekeeping/audit/index.ts";
import { EnvironmentProtection } from "./responses.ts";

const operations = {
  getProtection: {
    tags: ["Environments"],
    summary: "Read the rules of an environment",
    role: "viewer",
    notFound: ["environment"],
    responses: { 200: jsonReply(EnvironmentProtection(), "The rules.") },
  },
  replaceProtection: {
    tags: ["Environments"],
    summary: "Replace the rules of an environment",
    role: "owner",
    changes: ["rules"],
    description:
      "Needs a full credential (`full` in `GET /v1/whoami`). Rules that are absent are removed. " +
      "Deployments that are queued keep the earlier rules beside the new ones.",
    notFound: ["environment", "membership", "other environment in the project", "trust"],
    errors: {
      credential_not_full: NOT_FULL,
      kept_rules_limit: new LimitReached(
        LIMITS.keptRules.value,
        "earlier rules that a queued deployment keeps",
      ),
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(EnvironmentProtection(), "The rules.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

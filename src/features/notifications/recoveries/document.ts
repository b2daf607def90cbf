import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply } from "../../../document/replies.ts";
import { BadInput, Conflict } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { DISABLED, UNCONFIRMED } from "../integrations/index.ts";
import { SINCE_TOO_EARLY } from "./model.ts";
import { Recovery, RecoveryList } from "./responses.ts";
import { RUNNING } from "./service.ts";

const TAGS = ["Recoveries"];

const operations = {
  createRecovery: {
    tags: TAGS,
    summary: "Deliver again what failed in a period",
    role: "owner",
    description:
      "Creates a new delivery, with the same `webhook-id`, for each event whose delivery failed in the " +
      "period, except for those that this integration has received since, or that are pending. It " +
      "starts within a minute, and reads up to " +
      `${LIMITS.recoveredDeliveries.value} failed deliveries a minute. An integration that is disabled, a ` +
      "Slack installation that is not confirmed, and a second recovery at a time are a `conflict`. A " +
      "recovery of an integration that is disabled later waits until it is enabled.",
    notFound: ["notification integration"],
    errors: {
      since_too_early: new BadInput([{ path: "since", message: SINCE_TOO_EARLY }]),
      integration_disabled: DISABLED,
      integration_unconfirmed: UNCONFIRMED,
      recovery_running: new Conflict(RUNNING),
    },
    responses: { 201: jsonReply(Recovery(), "The recovery, running.") },
  },
  listRecoveries: {
    tags: TAGS,
    summary: "List the recoveries of an integration",
    role: "viewer",
    notFound: ["notification integration"],
    responses: { 200: jsonReply(RecoveryList(), "A page of recoveries.") },
  },
  getRecovery: {
    tags: TAGS,
    summary: "Read a recovery",
    role: "viewer",
    notFound: ["recovery"],
    responses: { 200: jsonReply(Recovery(), "The recovery.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Recoveries",
    description: "New deliveries, in the background, of what failed in a period.",
  },
];

export const document: FeatureDocument = { tags, operations };

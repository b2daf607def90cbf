import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { jsonReply, NO_CONTENT } from "../../../document/replies.ts";
import { BadInput, LimitReached } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { NOT_HTTPS } from "../../../lib/target-url.ts";
import {
  CONFIRMATION_TTL_MS,
  DISABLED,
  FULL,
  LAPSED,
  NO_SECRET,
  UNCONFIRMED,
  URL_OF_SLACK,
} from "./model.ts";
import {
  CreatedIntegration,
  Integration,
  IntegrationList,
  RotatedIntegration,
} from "./responses.ts";
import { SECRET_OVERLAP_MS } from "./secret.ts";

const TAGS = ["Notification integrations"];

const operations = {
  listIntegrations: {
    tags: TAGS,
    summary: "List the notification integrations of a project",
    role: "viewer",
    description: `Returns all of them on one page, the newest first.`,
    notFound: ["project"],
    responses: { 200: jsonReply(IntegrationList(), "The integrations.") },
  },
  createIntegration: {
    tags: TAGS,
    summary: "Create a webhook",
    role: "owner",
    description:
      `A project has up to ${LIMITS.integrationsPerProject.value} notification integrations: one more is a ` +
      "`conflict`. Only this response contains the secret for verifying webhooks.",
    notFound: ["project", "environment in the project", "stack in the project"],
    errors: {
      url_not_https: new BadInput([{ path: "url", message: NOT_HTTPS }]),
      project_integration_limit: FULL,
      integration_limit: new LimitReached(QUOTAS.integrations, "integrations"),
    },
    responses: {
      201: jsonReply(CreatedIntegration(), "The integration, with its secret."),
    },
  },
  getIntegration: {
    tags: TAGS,
    summary: "Read a notification integration",
    role: "viewer",
    notFound: ["notification integration"],
    responses: { 200: jsonReply(Integration(), "The integration.") },
  },
  updateIntegration: {
    tags: TAGS,
    summary: "Change a notification integration",
    role: "owner",
    description:
      `Absent fields keep their values. Enables a disabled integration again, also ` +
      "with an empty body object. Does not confirm a Slack installation.",
    notFound: ["notification integration", "environment in the project", "stack in the project"],
    errors: {
      url_not_https: new BadInput([{ path: "url", message: NOT_HTTPS }]),
      url_of_slack: new BadInput([{ path: "url", message: URL_OF_SLACK }]),
      stored_bytes_limit: new LimitReached(LIMITS.storedBytes.value, "bytes"),
    },
    responses: { 200: jsonReply(Integration(), "The integration.") },
  },
  deleteIntegration: {
    tags: TAGS,
    summary: "Delete a notification integration",
    role: "owner",
    description: `Deletes its deliveries too, including pending ones.`,
    notFound: ["notification integration"],
    responses: { 204: NO_CONTENT },
  },
  rotateIntegrationSecret: {
    tags: TAGS,
    summary: "Rotate the secret of a webhook",
    role: "owner",
    description:
      `For ${durationOf(SECRET_OVERLAP_MS)}, webhooks have two signatures: one by the new secret and one by ` +
      "the previous secret. A further rotation in that time drops the oldest secret. A Slack " +
      "integration has no secret: this is a `conflict`.",
    notFound: ["notification integration"],
    errors: {
      no_secret: NO_SECRET,
    },
    responses: {
      200: jsonReply(RotatedIntegration(), "The integration, with its new secret."),
    },
  },
  confirmIntegration: {
    tags: TAGS,
    summary: "Confirm a Slack installation",
    role: "owner",
    description:
      "Compare the workspace and the channel in `slack` first: whoever completed the installation " +
      "chose them. Until the confirmation, nothing is sent; events from before it are never sent. An " +
      `installation that is not confirmed within ${durationOf(CONFIRMATION_TTL_MS)} is deleted. An integration that is ` +
      "already confirmed, as every webhook is, stays as it is.",
    notFound: ["notification integration"],
    errors: {
      installation_lapsed: LAPSED,
    },
    responses: { 201: jsonReply(Integration(), "The integration, confirmed.") },
  },
  resumeIntegration: {
    tags: TAGS,
    summary: "Resume a notification integration",
    role: "owner",
    description:
      "Ends its pause, and makes the deliveries due that wait for a retry, up to " +
      `${LIMITS.resumedDeliveries.value}. \`failing_since\` stays until an attempt succeeds. An integration ` +
      "that is disabled, or a Slack installation that is not confirmed, is a `conflict`.",
    notFound: ["notification integration"],
    errors: {
      integration_disabled: DISABLED,
      integration_unconfirmed: UNCONFIRMED,
    },
    responses: { 201: jsonReply(Integration(), "The integration, which is not paused.") },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

const tags = [
  {
    name: "Notification integrations",
    description: "The destinations of a project's events, and the events they receive.",
  },
];

export const document: FeatureDocument = { tags, operations };

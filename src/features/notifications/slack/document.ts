import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { EXAMPLE_REQUEST_ID, jsonReply } from "../../../document/replies.ts";
import { ApiError, BadInput, Forbidden, LimitReached, NotConfigured } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { FAILED, FULL, NOT_GRANTED, TIMED_OUT } from "./model.ts";
import { SlackInstallation } from "./responses.ts";

const operations = {
  installSlack: {
    tags: ["Notification integrations"],
    summary: "Connect Slack to a project",
    role: "owner",
    description:
      `Returns a URL to open in a browser. Choosing a channel there creates an ` +
      "integration of the type `slack`, with every kind of notification enabled. It sends nothing " +
      "until an owner has confirmed the channel: `POST …/{integration_id}/confirm`. " +
      "`not_implemented` if this installation has no Slack app.",
    notFound: ["project"],
    errors: {
      slack_not_configured: new NotConfigured("Slack", ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"]),
    },
    responses: { 200: jsonReply(SlackInstallation(), "The URL.") },
  },
  finishSlackInstallation: {
    tags: ["Notification integrations"],
    summary: "Come back from Slack",
    description:
      "Slack redirects the browser to this path. The key that requested the installation must still " +
      "have the role. Repeating the request creates no second integration. The page states how to " +
      "confirm the channel.",
    errors: {
      access_not_granted: NOT_GRANTED,
      state_expired: new BadInput([
        { path: "state", message: "It is older than ten minutes. Ask for the installation again." },
      ]),
      needs_owner: new Forbidden("owner"),
      project_slack_limit: FULL,
      integration_limit: new LimitReached(QUOTAS.integrations, "integrations"),
      slack_timeout: TIMED_OUT,
      slack_failed: new ApiError("internal", FAILED, { cause: { request_id: EXAMPLE_REQUEST_ID } }),
      slack_not_configured: new NotConfigured("Slack", ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"]),
    },
    responses: {
      200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
    },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

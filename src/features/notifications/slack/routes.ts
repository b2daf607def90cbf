import { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { ProjectParams } from "../../../http/params.ts";
import { htmlReply, json, ok } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { ApiError, BadInput, Forbidden, LimitReached, NotConfigured } from "../../../lib/errors.ts";
import { EXAMPLE_REQUEST_ID } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { line } from "../../../lib/schemas.ts";
import { finishInstallation, startInstallation } from "./install.ts";
import { FAILED, FULL, NOT_GRANTED, TIMED_OUT } from "./model.ts";
import { PAGE_HEADERS, renderInstalled } from "./page.ts";
import { STATE_TTL_MS } from "./state.ts";

const parameter = (metadata: { description: string }) =>
  line(LIMITS.callbackLength.value).optional().openapi(metadata);

const CallbackQuery = z.object({
  code: parameter({ description: "The authorization code from Slack." }),
  state: parameter({ description: "The state that the installation started with." }),
  error: parameter({ description: "Why Slack issued no code." }),
});

const EXAMPLE_URL =
  "https://slack.com/oauth/v2/authorize?client_id=1.2&scope=incoming-webhook" +
  "&redirect_uri=https%3A%2F%2Flongshore.example.com%2Fv1%2Fslack%2Fcallback&state=k1";

const SlackInstallation = z
  .object({
    url: z.url().openapi({
      description: `Open this URL in a browser within ${durationOf(STATE_TTL_MS)}, choose a channel, and allow access.`,
      example: EXAMPLE_URL,
    }),
  })
  .openapi("SlackInstallation", {
    description: "The start of an installation, which a person finishes at Slack.",
  });

const install = apiRoute({
  method: "get",
  path: "/v1/projects/{project_id}/slack/install",
  operationId: "installSlack",
  tags: ["Notification integrations"],
  summary: "Connect Slack to a project",
  description:
    `Returns a URL to open in a browser. Choosing a channel there creates an ` +
    "integration of the type `slack`, with every kind of notification enabled. It sends nothing " +
    "until an owner has confirmed the channel: `POST …/{integration_id}/confirm`. " +
    "`not_implemented` if this installation has no Slack app.",
  access: { scope: "integrations:write", role: "owner" },
  request: { params: ProjectParams },
  responses: { 200: json(SlackInstallation, "The URL.") },
  notFound: ["project"],
  errors: {
    slack_not_configured: new NotConfigured("Slack", ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"]),
  },
});

const callback = apiRoute({
  method: "get",
  path: "/v1/slack/callback",
  operationId: "finishSlackInstallation",
  page: true,
  access: "public",
  writes: true,
  request: { query: CallbackQuery },
  responses: { 200: htmlReply },
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
});

export const slackRoutes = createRouter()
  .openapi(install, (c) =>
    ok(
      c,
      (ctx) => startInstallation(ctx, c.req.valid("param").project_id, new URL(c.req.url).origin),
      (url: string) => ({ url }),
    ),
  )
  .openapi(callback, async (c) => {
    const { code, state, error } = c.req.valid("query");
    const { origin } = new URL(c.req.url);
    const installation = finishInstallation(c.var.ctx, { code, state, error, origin });
    // Continues if the client disconnects: Slack accepts a code only once.
    c.executionCtx.waitUntil(installation.catch(() => undefined));
    return c.html(renderInstalled(await installation), 200, PAGE_HEADERS);
  });

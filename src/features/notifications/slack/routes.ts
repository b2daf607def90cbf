import { z } from "@hono/zod-openapi";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { jsonReply, NEEDS } from "../../../http/replies.ts";
import { createRouter, type PublicEnv } from "../../../http/router.ts";
import { PAGE_HEADERS, renderConnected } from "./page.ts";
import { CallbackQuery, SlackInstallation } from "./schemas.ts";
import { finishInstallation, type InstallingContext, startInstallation } from "./service.ts";

const install = operation({
  method: "get",
  path: "/v1/projects/{project_id}/slack/install",
  operationId: "installSlack",
  tags: ["Notification integrations"],
  summary: "Connect Slack to a project",
  description:
    `${NEEDS.owner} Whoever opens the URL in a browser chooses the channel; that makes an ` +
    "integration of the type `slack`, with every kind of notification switched on. " +
    "`not_implemented` if the deployment has no Slack app.",
  request: { params: ProjectParams },
  responses: { 200: jsonReply(SlackInstallation, "Where to go.") },
});

const callback = operation({
  method: "get",
  path: "/v1/slack/callback",
  operationId: "finishSlackInstallation",
  tags: ["Notification integrations"],
  summary: "Come back from Slack",
  description:
    "Where Slack sends the browser in the end. The state stands for the key that asked for the " +
    "installation: it must still have the role. It makes one integration, however often it is sent.",
  credentials: [],
  writes: true,
  request: { query: CallbackQuery },
  responses: {
    200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
  },
});

export const slackRoutes = createRouter().openapi(install, async (c) => {
  const { origin } = new URL(c.req.url);
  const url = await startInstallation(c.env, c.req.valid("param").project_id, origin);
  return c.json({ url }, 200);
});

/** The route back from Slack, which needs no key. `bind` gives it what it works with. */
export function slackCallbackRoutes(
  bind: (env: Env, execution: Pick<ExecutionContext, "waitUntil">) => InstallingContext,
) {
  return createRouter<PublicEnv>().openapi(callback, async (c) => {
    const { code, state, error } = c.req.valid("query");
    const { origin } = new URL(c.req.url);
    const input = { code, state, error, origin };
    const work = finishInstallation(bind(c.env, c.executionCtx), input);
    // A code works once: whoever hangs up, what it was given for is written.
    c.executionCtx.waitUntil(work.catch(() => undefined));
    return c.html(renderConnected(await work), 200, PAGE_HEADERS);
  });
}

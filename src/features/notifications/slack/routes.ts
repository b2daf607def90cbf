import type { PublicContext } from "../../../context.ts";
import type { PublicEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { ProjectParams } from "../../../http/params.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { finishInstallation, startInstallation } from "./install.ts";
import { PAGE_HEADERS, renderInstalled } from "./page.ts";
import { CallbackQuery } from "./schemas.ts";

const install = operation({
  method: "get",
  path: "/v1/projects/{project_id}/slack/install",
  operationId: "installSlack",
  present: (url: string) => ({ url }),
  scope: "integrations:write",
  request: () => ({ params: ProjectParams() }),
});

const callback = operation({
  method: "get",
  path: "/v1/slack/callback",
  operationId: "finishSlackInstallation",
  page: true,
  credentials: [],
  writes: true,
  request: () => ({ query: CallbackQuery() }),
});

export const slackRoutes = createRouter<Documented>().handle(install, ({ ctx, url, params }) =>
  startInstallation(ctx, params.project_id, new URL(url).origin),
);

export function slackCallbackRoutes(
  createContext: (
    env: PublicEnv["Bindings"],
    execution: Pick<ExecutionContext, "waitUntil">,
  ) => PublicContext,
) {
  return createRouter<Documented, PublicEnv>().openapi(callback, async (c) => {
    const { code, state, error } = c.req.valid("query");
    const { origin } = new URL(c.req.url);
    const input = { code, state, error, origin };
    const installation = finishInstallation(createContext(c.env, c.executionCtx), input);
    // Continues if the client disconnects: Slack accepts a code only once.
    c.executionCtx.waitUntil(installation.catch(() => undefined));
    return c.html(renderInstalled(await installation), 200, PAGE_HEADERS);
  });
}

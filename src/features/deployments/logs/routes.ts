import { accepts } from "hono/accepts";
import { apiRoute } from "../../../http/api-route.ts";
import { EVENT_STREAM, PLAIN_TEXT } from "../../../http/media-types.ts";
import { jsonOrTextReply } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { BadInput } from "../../../lib/errors.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { presentLogPage } from "./presenters.ts";
import { LogHeaders, LogPage, LogParams, LogQueryParams } from "./schemas.ts";
import { downloadLog, readLogPage, SCOPE, streamLog } from "./service.ts";

const JSON_TYPE = "application/json";

const read = apiRoute({
  method: "get",
  path: "/v1/deployments/{deployment_id}/logs",
  operationId: "readLog",
  tags: ["Logs"],
  summary: "Read or follow the log of a deployment",
  description:
    "Returns what the runner's command has printed, live or finished, in the form that `Accept` asks " +
    `for. JSON: a page of lines. \`${PLAIN_TEXT}\`: all bytes that the log has now, as printed. ` +
    `\`${EVENT_STREAM}\`: lines as they arrive, with the offset after each as ID, \`status\` when the ` +
    "deployment or a stack has another status, and `end` with the final status. A stream ends after " +
    `${durationOf(LIMITS.logStreamMs.value)}; \`Last-Event-ID\` continues it at the byte. It counts as one request.`,
  access: { scope: SCOPE, role: "viewer" },
  policy: "polling",
  request: { params: LogParams, query: LogQueryParams, headers: LogHeaders },
  responses: {
    200: jsonOrTextReply(
      LogPage,
      {
        [PLAIN_TEXT]: "The bytes as printed. They can have escape sequences for terminals.",
        [EVENT_STREAM]: "Server-sent events; each line is a `LogLine`.",
      },
      "The log.",
    ),
  },
  notFound: ["deployment", "stack in the deployment"],
  errors: {
    offset_beyond_end: new BadInput([
      { path: "after", message: "This log has 4096 bytes. Send at most that offset." },
    ]),
  },
});

export const logRoutes = createRouter().openapi(read, async (c) => {
  const { deployment_id } = c.req.valid("param");
  const { after = 0, stack_id: stackId } = c.req.valid("query");
  const lastEventId = c.req.valid("header")["last-event-id"];
  const supports = [JSON_TYPE, PLAIN_TEXT, EVENT_STREAM];
  const type = accepts(c, { header: "Accept", supports, default: JSON_TYPE });
  if (type === JSON_TYPE) {
    const page = await c.var.run((ctx) => readLogPage(ctx, deployment_id, { after, stackId }));
    return c.json(presentLogPage(page), 200);
  }
  const headers = { "content-type": `${type}; charset=utf-8` };
  if (c.req.method === "HEAD") {
    await c.var.run((ctx) => readLogPage(ctx, deployment_id, { after, stackId }));
    return c.body(null, 200, headers);
  }
  const stream = await c.var.run((ctx) =>
    type === PLAIN_TEXT
      ? downloadLog(ctx, deployment_id, { after, stackId })
      : streamLog(ctx, deployment_id, { after, stackId, lastEventId }),
  );
  return c.body(stream, 200, headers);
});

import { accepts } from "hono/accepts";
import { EVENT_STREAM, PLAIN_TEXT } from "../../../http/media-types.ts";
import { operation } from "../../../http/operation.ts";
import { createRouter } from "../../../http/router.ts";
import type { Documented } from "./document.ts";
import { presentLogPage } from "./presenters.ts";
import { LogHeaders, LogParams, LogQueryParams } from "./schemas.ts";
import { downloadLog, readLogPage, SCOPE, streamLog } from "./service.ts";

const JSON_TYPE = "application/json";

const read = operation({
  method: "get",
  path: "/v1/deployments/{deployment_id}/logs",
  operationId: "readLog",
  scope: SCOPE,
  policy: "polling",
  request: () => ({ params: LogParams(), query: LogQueryParams(), headers: LogHeaders() }),
});

export const logRoutes = createRouter<Documented>().openapi(read, async (c) => {
  const { deployment_id } = c.req.valid("param");
  const { after = 0, stack_id: stackId } = c.req.valid("query");
  const lastEventId = c.req.valid("header")["last-event-id"];
  const supports = [JSON_TYPE, PLAIN_TEXT, EVENT_STREAM];
  const type = accepts(c, { header: "Accept", supports, default: JSON_TYPE });
  if (type === JSON_TYPE) {
    const page = await readLogPage(c.env, deployment_id, { after, stackId });
    return c.json(presentLogPage(page), 200);
  }
  const headers = { "content-type": `${type}; charset=utf-8` };
  if (c.req.method === "HEAD") {
    await readLogPage(c.env, deployment_id, { after, stackId });
    return c.body(null, 200, headers);
  }
  const stream =
    type === PLAIN_TEXT
      ? await downloadLog(c.env, deployment_id, { after, stackId })
      : await streamLog(c.env, deployment_id, { after, stackId, lastEventId });
  return c.body(stream, 200, headers);
});

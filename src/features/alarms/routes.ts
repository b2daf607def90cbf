import { jsonBody } from "../../http/bodies.ts";
import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { createRouter, type RunnerEnv } from "../../http/router.ts";
import { StackParams } from "../stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentAlarm } from "./presenters.ts";
import { AlarmParams, AlarmReport } from "./schemas.ts";
import { listAlarms, reportAlarm, reportAlarmAsRunner } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/alarms",
  operationId: "listAlarms",
  polled: true,
  scope: "environments:read",
  request: () => ({ params: StackParams(), query: ListQuery() }),
});

const report = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}/alarms/{name}",
  operationId: "reportAlarm",
  scope: "environments:write",
  credentials: ["api_key", "runner_token"],
  request: () => ({ params: AlarmParams(), body: jsonBody(AlarmReport()) }),
});

export const alarmRoutes = createRouter<Documented>()
  .openapi(list, async (c) => {
    const page = toPageRequest(c.req.valid("query"));
    const alarms = await listAlarms(c.env, c.req.valid("param").stack_id, page);
    return c.json(toEnvelope(alarms, presentAlarm), 200);
  })
  .openapi(report, async (c) => {
    const { stack_id, name } = c.req.valid("param");
    const alarm = await reportAlarm(c.env, stack_id, { name, ...c.req.valid("json") });
    return c.json(presentAlarm(alarm), 200);
  });

/** The same operation for runner tokens. */
export const alarmRoutesForRunners = createRouter<Documented, RunnerEnv>().openapi(
  report,
  async (c) => {
    const { stack_id, name } = c.req.valid("param");
    const alarm = await reportAlarmAsRunner(c.env, stack_id, { name, ...c.req.valid("json") });
    return c.json(presentAlarm(alarm), 200);
  },
);

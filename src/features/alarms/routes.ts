import { createRoute } from "@hono/zod-openapi";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import {
  API_KEY,
  ERROR_REPLIES,
  jsonBody,
  jsonReply,
  NEEDS,
  RUNNER_TOKEN,
} from "../../http/replies.ts";
import { createRouter, type ProtectedForRunners } from "../../http/router.ts";
import { StackParams } from "../stacks/index.ts";
import { presentAlarm } from "./presenters.ts";
import { Alarm, AlarmList, AlarmParams, AlarmReport } from "./schemas.ts";
import { listAlarms, reportAlarm, reportAlarmAsRunner } from "./service.ts";

const list = createRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}/alarms",
  operationId: "listAlarms",
  tags: ["Alarms"],
  summary: "List the alarms of a stack",
  description: NEEDS.viewer,
  security: API_KEY,
  request: { params: StackParams, query: ListQuery },
  responses: { 200: jsonReply(AlarmList, "A page of alarms."), ...ERROR_REPLIES },
});

const report = createRoute({
  method: "put",
  path: "/v1/stacks/{stack_id}/alarms/{name}",
  operationId: "reportAlarm",
  tags: ["Alarms"],
  summary: "Report the state of an alarm",
  description:
    `${NEEDS.contributor} Or a runner token whose pool has the stack's environment: the policy is ` +
    "`runner` then, and there is no `Deployment-Desired`, for it is about no deployment. The first " +
    "report of a name makes the alarm. A change of state is an event: `services.in_alarm` when it " +
    "goes off, be it at the first report, and `services.ok` when it is over. The same state again " +
    "replaces the reason and is no event.",
  security: [...API_KEY, ...RUNNER_TOKEN],
  request: { params: AlarmParams, body: jsonBody(AlarmReport) },
  responses: { 200: jsonReply(Alarm, "The alarm."), ...ERROR_REPLIES },
});

export const alarmRoutes = createRouter()
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

/** What of it is behind the runners' gate; the document has it from the routes above. */
export const alarmRoutesForRunners = createRouter<ProtectedForRunners>().openapi(
  createRoute({ ...report, hide: true }),
  async (c) => {
    const { stack_id, name } = c.req.valid("param");
    const alarm = await reportAlarmAsRunner(c.env, stack_id, { name, ...c.req.valid("json") });
    return c.json(presentAlarm(alarm), 200);
  },
);

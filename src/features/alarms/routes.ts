import { operation } from "../../http/operation.ts";
import { ListQuery, toEnvelope, toPageRequest } from "../../http/pagination.ts";
import { jsonBody, jsonReply } from "../../http/replies.ts";
import { createRouter, type RunnerEnv } from "../../http/router.ts";
import { LimitReached } from "../../lib/errors.ts";
import { LIMITS } from "../../lib/limits.ts";
import { StackParams } from "../stacks/index.ts";
import { presentAlarm } from "./presenters.ts";
import { Alarm, AlarmList, AlarmParams, AlarmReport } from "./schemas.ts";
import { listAlarms, reportAlarm, reportAlarmAsRunner } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/alarms",
  operationId: "listAlarms",
  tags: ["Alarms"],
  summary: "List the alarms of a stack",
  role: "viewer",
  polled: true,
  scope: "environments:read",
  notFound: ["stack"],
  request: { params: StackParams(), query: ListQuery() },
  responses: { 200: jsonReply(AlarmList(), "A page of alarms.") },
});

const report = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}/alarms/{name}",
  operationId: "reportAlarm",
  tags: ["Alarms"],
  summary: "Report the state of an alarm",
  role: "contributor",
  scope: "environments:write",
  description:
    `Or a runner token whose pool has the stack's environment: the policy is ` +
    "`runner` then, and the response has no `Deployment-Desired`, because it concerns no deployment. " +
    "The first report of a name creates the alarm. A change of state is an event: " +
    "`services.in_alarm` when the alarm starts, also at the first report, and `services.ok` when it " +
    "ends. A report of the same state replaces the reason and is no event.",
  credentials: ["api_key", "runner_token"],
  notFound: ["stack"],
  errors: {
    alarm_limit: new LimitReached(LIMITS.alarms.value, "alarms"),
  },
  request: { params: AlarmParams(), body: jsonBody(AlarmReport()) },
  responses: { 200: jsonReply(Alarm(), "The alarm.") },
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

/** The same operation for runner tokens. Hidden, because the document has it from `alarmRoutes`. */
export const alarmRoutesForRunners = createRouter<RunnerEnv>().openapi(
  { ...report, hide: true },
  async (c) => {
    const { stack_id, name } = c.req.valid("param");
    const alarm = await reportAlarmAsRunner(c.env, stack_id, { name, ...c.req.valid("json") });
    return c.json(presentAlarm(alarm), 200);
  },
);

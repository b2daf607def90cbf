import { apiRoute } from "../../../http/api-route.ts";
import { jsonBody } from "../../../http/bodies.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { json, ok, page } from "../../../http/replies.ts";
import { createRouter } from "../../../http/router.ts";
import { LimitReached } from "../../../lib/errors.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { StackParams } from "../../projects/stacks/schemas.ts";
import { presentAlarm } from "./presenters.ts";
import { Alarm, AlarmList, AlarmParams, AlarmReport } from "./schemas.ts";
import { listAlarms, reportAlarm, reportAlarmAsRunner } from "./service.ts";

const list = apiRoute({
  method: "get",
  path: "/v1/stacks/{stack_id}/alarms",
  operationId: "listAlarms",
  tags: ["Alarms"],
  summary: "List the alarms of a stack",
  access: { scope: "environments:read", role: "viewer" },
  polled: true,
  request: { params: StackParams, query: ListQuery },
  responses: { 200: json(AlarmList, "A page of alarms.") },
  notFound: ["stack"],
});

const report = apiRoute({
  method: "put",
  path: "/v1/stacks/{stack_id}/alarms/{name}",
  operationId: "reportAlarm",
  tags: ["Alarms"],
  summary: "Report the state of an alarm",
  description:
    `Or a runner token whose pool has the stack's environment: the policy is ` +
    "`runner` then, and the response has no `Deployment-Desired`, because it concerns no deployment. " +
    "The first report of a name creates the alarm. A change of state is an event: " +
    "`services.in_alarm` when the alarm starts, also at the first report, and `services.ok` when it " +
    "ends. A report of the same state replaces the reason and is no event.",
  access: { scope: "environments:write", role: "contributor", runnerToken: true },
  request: { params: AlarmParams, body: jsonBody(AlarmReport) },
  responses: { 200: json(Alarm, "The alarm.") },
  notFound: ["stack"],
  errors: {
    alarm_limit: new LimitReached(QUOTAS.alarms, "alarms"),
  },
});

export const alarmRoutes = createRouter()
  .openapi(list, (c) =>
    page(
      c,
      (ctx) => listAlarms(ctx, c.req.valid("param").stack_id, toPageRequest(c.req.valid("query"))),
      presentAlarm,
    ),
  )
  .openapi(report, (c) => {
    const params = c.req.valid("param");
    return ok(
      c,
      (ctx) => {
        const alarm = { name: params.name, ...c.req.valid("json") };
        return "runner" in ctx
          ? reportAlarmAsRunner(ctx, params.stack_id, alarm)
          : reportAlarm(ctx, params.stack_id, alarm);
      },
      presentAlarm,
    );
  });

import { jsonBody } from "../../../http/bodies.ts";
import type { RunnerEnv } from "../../../http/envs.ts";
import { operation } from "../../../http/operation.ts";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { createRouter } from "../../../http/router.ts";
import { StackParams } from "../../projects/stacks/index.ts";
import type { Documented } from "./document.ts";
import { presentAlarm } from "./presenters.ts";
import { AlarmParams, AlarmReport } from "./schemas.ts";
import { listAlarms, reportAlarm, reportAlarmAsRunner } from "./service.ts";

const list = operation({
  method: "get",
  path: "/v1/stacks/{stack_id}/alarms",
  operationId: "listAlarms",
  polled: true,
  presentEach: presentAlarm,
  scope: "environments:read",
  request: () => ({ params: StackParams(), query: ListQuery() }),
});

const report = operation({
  method: "put",
  path: "/v1/stacks/{stack_id}/alarms/{name}",
  operationId: "reportAlarm",
  present: presentAlarm,
  scope: "environments:write",
  credentials: ["api_key", "runner_token"],
  request: () => ({ params: AlarmParams(), body: jsonBody(AlarmReport()) }),
});

export const alarmRoutes = createRouter<Documented>()
  .handle(list, ({ ctx, params, query }) => listAlarms(ctx, params.stack_id, toPageRequest(query)))
  .handle(report, ({ ctx, params, body }) =>
    reportAlarm(ctx, params.stack_id, { name: params.name, ...body }),
  );

/** The same operation for runner tokens. */
export const alarmRoutesForRunners = createRouter<Documented, RunnerEnv>().handle(
  report,
  ({ ctx, params, body }) =>
    reportAlarmAsRunner(ctx, params.stack_id, { name: params.name, ...body }),
);

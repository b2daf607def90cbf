import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { LIMITS } from "../../lib/limits.ts";
import { clearable, Identifier, Timestamp, text } from "../../lib/schemas.ts";
import { StackParams } from "../stacks/index.ts";
import { ALARM_STATES } from "./model.ts";

const Name = text(LIMITS.nameLength.value).openapi({
  description: "Unique in the stack, for example the alarm's name in the monitoring system.",
  example: "api-5xx",
});
const State = z.enum(ALARM_STATES);
const Reason = text(LIMITS.descriptionLength.value).openapi({
  description: "Why the alarm is in this state.",
  example: "5 % of the requests failed",
});

export const Alarm = z
  .object({
    stack_id: Identifier,
    name: Name,
    state: State,
    reason: Reason.optional(),
    changed_at: Timestamp.openapi({ description: "When the state last changed." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Alarm");

export const AlarmList = envelopeOf(Alarm, "AlarmList");

export const AlarmReport = z
  .strictObject({ state: State, reason: clearable(Reason) })
  .openapi("AlarmReport", { example: { state: "alarm", reason: "5 % of the requests failed" } });

export const AlarmParams = StackParams.extend({
  name: Name.openapi({ param: { name: "name", in: "path" } }),
});

import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { clearable, identifierOf, nameInput, text, timestampOf } from "../../../lib/schemas.ts";
import { StackParams } from "../../projects/stacks/schemas.ts";
import { ALARM_STATES } from "./model.ts";

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "Unique in the stack, for example the alarm's name in the monitoring system.",
  example: "api-5xx",
});
export const State = z.enum(ALARM_STATES).openapi("AlarmState", {
  description: "`alarm` while something is wrong with the stack, otherwise `ok`.",
});
export const Reason = text(LIMITS.descriptionLength.value).openapi({
  description: "Why the alarm is in this state. Absent if the last report gave none.",
  example: "5 % of the requests failed",
});

export const AlarmReport = z
  .strictObject({
    state: State,
    reason: clearable(Reason).openapi({
      description: "Why the alarm is in this state. Absent or null: clears the earlier reason.",
    }),
  })
  .openapi("AlarmReport", {
    description: "What a monitoring system observed of a stack.",
    example: { state: "alarm", reason: "5 % of the requests failed" },
  });

export const AlarmParams = StackParams.extend({
  name: Name.openapi({ param: { name: "name", in: "path" } }),
});

export const Alarm = z
  .object({
    stack_id: identifierOf("stack", "The stack that the alarm watches."),
    name: Name,
    state: State,
    reason: Reason.optional(),
    changed_at: timestampOf("When the state last changed."),
    created_at: timestampOf("When the first report created the alarm."),
    updated_at: timestampOf("When the last report arrived, also one of the same state."),
  })
  .openapi("Alarm", { description: "The last reported health of a stack, under a name." });

export const AlarmList = envelopeOf(Alarm, "AlarmList");

import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { clearable, component, identifierOf, text, timestampOf } from "../../lib/schemas.ts";
import { StackParams } from "../stacks/index.ts";
import { ALARM_STATES } from "./model.ts";

const Name = lazy(() =>
  text(LIMITS.nameLength.value).openapi({
    description: "Unique in the stack, for example the alarm's name in the monitoring system.",
    example: "api-5xx",
  }),
);
const State = component("AlarmState", () =>
  z.enum(ALARM_STATES).openapi({
    description: "`alarm` while something is wrong with the stack, otherwise `ok`.",
  }),
);
const Reason = lazy(() =>
  text(LIMITS.descriptionLength.value).openapi({
    description: "Why the alarm is in this state. Absent if the last report gave none.",
    example: "5 % of the requests failed",
  }),
);

export const Alarm = component("Alarm", () =>
  z
    .object({
      stack_id: identifierOf("stack", "The stack that the alarm watches."),
      name: Name(),
      state: State(),
      reason: Reason().optional(),
      changed_at: timestampOf("When the state last changed."),
      created_at: timestampOf("When the first report created the alarm."),
      updated_at: timestampOf("When the last report arrived, also one of the same state."),
    })
    .openapi({ description: "The last reported health of a stack, under a name." }),
);

export const AlarmList = envelopeOf(Alarm, "AlarmList");

export const AlarmReport = component("AlarmReport", () =>
  z
    .strictObject({
      state: State(),
      reason: clearable(Reason()).openapi({
        description: "Why the alarm is in this state. Absent or null: clears the earlier reason.",
      }),
    })
    .openapi({
      description: "What a monitoring system observed of a stack.",
      example: { state: "alarm", reason: "5 % of the requests failed" },
    }),
);

export const AlarmParams = lazy(() =>
  StackParams().extend({
    name: Name().openapi({ param: { name: "name", in: "path" } }),
  }),
);

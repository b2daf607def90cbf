import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Name, Reason, State } from "./schemas.ts";

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

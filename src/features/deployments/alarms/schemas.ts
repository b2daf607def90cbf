import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { clearable, component, nameInput, text } from "../../../lib/schemas.ts";
import { StackParams } from "../../projects/stacks/index.ts";
import { ALARM_STATES } from "./model.ts";

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "Unique in the stack, for example the alarm's name in the monitoring system.",
      example: "api-5xx",
    })),
  ),
);
export const State = component("AlarmState", () =>
  z.enum(ALARM_STATES).openapi(
    documented(() => ({
      description: "`alarm` while something is wrong with the stack, otherwise `ok`.",
    })),
  ),
);
export const Reason = lazy(() =>
  text(LIMITS.descriptionLength.value).openapi(
    documented(() => ({
      description: "Why the alarm is in this state. Absent if the last report gave none.",
      example: "5 % of the requests failed",
    })),
  ),
);

export const AlarmReport = component("AlarmReport", () =>
  z
    .strictObject({
      state: State(),
      reason: clearable(Reason()).openapi(
        documented(() => ({
          description: "Why the alarm is in this state. Absent or null: clears the earlier reason.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "What a monitoring system observed of a stack.",
        example: { state: "alarm", reason: "5 % of the requests failed" },
      })),
    ),
);

export const AlarmParams = lazy(() =>
  StackParams().extend({
    name: Name().openapi(documented(() => ({ param: { name: "name", in: "path" } }))),
  }),
);

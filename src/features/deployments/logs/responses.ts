import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { LOG_STATUSES } from "./model.ts";

export const AppendedLog = component("AppendedLog", () =>
  z
    .object({
      next_offset: z
        .int()
        .openapi({ description: "The offset of the bytes to send next.", example: 8_192 }),
    })
    .openapi({ description: "How far the log goes." }),
);

export const LogLine = component("LogLine", () =>
  z
    .object({
      offset: z.int().openapi({ description: "Of the first byte in the log.", example: 4_096 }),
      time: timestampOf("When the first byte arrived."),
      stack_id: identifierOf("stack", "The stack that the line is of."),
      text: z.string().openapi({
        description:
          "The text as printed, with its line break. Without one, the next `LogLine` continues the " +
          "line, or the log ends. It can have escape sequences for terminals: never trust it. Bytes " +
          "that are not UTF-8 are U+FFFD.",
        example: "Creating the bucket\n",
      }),
    })
    .openapi({
      description:
        "One line of a log. It also ends where the stack changes, where the log ends for " +
        `now, and after ${sizeOf(LIMITS.logLineBytes.value)}.`,
    }),
);

const Status = component("LogStatus", () =>
  z.enum(LOG_STATUSES).openapi({
    example: "open",
    description:
      "`pending` until a runner starts the deployment; `open` while bytes may arrive; `sealed` when " +
      "none will; `none` if there is no log of the deployment.",
  }),
);

export const LogPage = component("LogPage", () =>
  z
    .object({
      data: z.array(LogLine()).openapi({ description: "The lines of this page." }),
      has_more: z.boolean().openapi({ description: "Whether the log has more now." }),
      next_page: z.string().regex(/^\d+$/).optional().openapi({
        description: "The `after` of the next page. Absent on the last page.",
        example: "8192",
      }),
      next_offset: z.int().openapi({
        description: "The `after` of the next page, also while there is none yet.",
        example: 8_192,
      }),
      status: Status(),
      truncated: z.boolean().openapi({
        example: false,
        description:
          "Whether bytes are missing for good: the log is over its limit, the logs of the organization " +
          "have used the bytes of the day, or the log differs from what the runner declared.",
      }),
    })
    .openapi({ description: "Some lines of a log." }),
);

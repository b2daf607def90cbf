import { z } from "@hono/zod-openapi";
import { textParam } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { canonicalId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { LOG_STATUSES } from "./model.ts";

const OFFSET_MESSAGE = "Send a whole number of bytes, 0 or more.";
/** Every whole number with so many digits is exact. */
const OFFSET = /^\d{1,15}$/;

const offsetText = () => z.string().regex(OFFSET, OFFSET_MESSAGE).transform(Number);

const stackQuery = z
  .string()
  .transform((text) => canonicalId(text) ?? text)
  .openapi({ example: EXAMPLE_IDS.stack });

const INTEGER = { type: "integer", format: "int64", minimum: 0 } as const;

export const AppendQuery = z.object({
  offset: offsetText().openapi({
    ...INTEGER,
    description: "The offset of the first byte of the body in the output of the attempt.",
    example: 4_096,
  }),
  stack_id: stackQuery.openapi({ description: "The stack that the bytes are of." }),
});

export const LogParams = z.object(textParam("deployment_id", "deployment", "deployment"));

export const LogQueryParams = z.object({
  after: offsetText()
    .optional()
    .openapi({
      ...INTEGER,
      description: "Skips so many bytes. Send a `next_page` or a `next_offset`. Absent: 0.",
    }),
  stack_id: stackQuery.optional().openapi({ description: "Only this stack. Absent: all." }),
});

export const LogHeaders = z.object({
  "last-event-id": offsetText().optional().openapi({
    type: "string",
    description: "The ID of the last event that arrived. Only for `text/event-stream`.",
    example: "8192",
  }),
});

export const AppendedLog = z
  .object({
    next_offset: z
      .int()
      .openapi({ description: "The offset of the bytes to send next.", example: 8_192 }),
  })
  .openapi("AppendedLog", { description: "How far the log goes." });

export const LogLine = z
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
  .openapi("LogLine", {
    description:
      "One line of a log. It also ends where the stack changes, where the log ends for " +
      `now, and after ${sizeOf(LIMITS.logLineBytes.value)}.`,
  });

const Status = z.enum(LOG_STATUSES).openapi("LogStatus", {
  example: "open",
  description:
    "`pending` until a runner starts the deployment; `open` while bytes may arrive; `sealed` when " +
    "none will; `none` if there is no log of the deployment.",
});

export const LogPage = z
  .object({
    data: z.array(LogLine).openapi({ description: "The lines of this page." }),
    has_more: z.boolean().openapi({ description: "Whether the log has more now." }),
    next_page: z.string().regex(/^\d+$/).optional().openapi({
      description: "The `after` of the next page. Absent on the last page.",
      example: "8192",
    }),
    next_offset: z.int().openapi({
      description: "The `after` of the next page, also while there is none yet.",
      example: 8_192,
    }),
    status: Status,
    truncated: z.boolean().openapi({
      example: false,
      description:
        "Whether bytes are missing for good: the log is over its limit, the logs of the organization " +
        "have used the bytes of the day, or the log differs from what the runner declared.",
    }),
  })
  .openapi("LogPage", { description: "Some lines of a log." });

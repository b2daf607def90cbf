import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { textParam } from "../../../http/params.ts";
import { canonicalId } from "../../../lib/ids.ts";
import { lazy } from "../../../lib/lazy.ts";

const OFFSET_MESSAGE = "Send a whole number of bytes, 0 or more.";
/** Every whole number with so many digits is exact. */
const OFFSET = /^\d{1,15}$/;

const offsetText = () => z.string().regex(OFFSET, OFFSET_MESSAGE).transform(Number);

const stackQuery = lazy(() =>
  z
    .string()
    .transform((text) => canonicalId(text) ?? text)
    .openapi(documented(() => ({ example: EXAMPLE_IDS.stack }))),
);

const INTEGER = { type: "integer", format: "int64", minimum: 0 } as const;

export const AppendQuery = lazy(() =>
  z.object({
    offset: offsetText().openapi(
      documented(() => ({
        ...INTEGER,
        description: "The offset of the first byte of the body in the output of the attempt.",
        example: 4_096,
      })),
    ),
    stack_id: stackQuery().openapi(
      documented(() => ({ description: "The stack that the bytes are of." })),
    ),
  }),
);

export const LogParams = lazy(() =>
  z.object(textParam("deployment_id", "deployment", "deployment")),
);

export const LogQueryParams = lazy(() =>
  z.object({
    after: offsetText()
      .optional()
      .openapi(
        documented(() => ({
          ...INTEGER,
          description: "Skips so many bytes. Send a `next_page` or a `next_offset`. Absent: 0.",
        })),
      ),
    stack_id: stackQuery()
      .optional()
      .openapi(documented(() => ({ description: "Only this stack. Absent: all." }))),
  }),
);

export const LogHeaders = lazy(() =>
  z.object({
    "last-event-id": offsetText()
      .optional()
      .openapi(
        documented(() => ({
          type: "string",
          description: "The ID of the last event that arrived. Only for `text/event-stream`.",
          example: "8192",
        })),
      ),
  }),
);

import { z } from "@hono/zod-openapi";
import type { NamedPageRequest, Page, PageRequest } from "../db/keyset.ts";
import { decodeCursor, encodeCursor } from "../lib/cursor.ts";
import { BadInput } from "../lib/errors.ts";
import { EXAMPLE_IDS } from "../lib/example-ids.ts";
import { LIMITS } from "../lib/limits.ts";
import { nameFilter } from "../lib/schemas.ts";

const SORT_ORDERS = ["created_at", "+created_at", "-created_at"] as const;
const DEFAULT_LIMIT = 20;
const MAXIMUM_LIMIT = LIMITS.pageItems.value;
const LIMIT_MESSAGE = `Send a whole number from 1 to ${MAXIMUM_LIMIT}.`;

const SortOrder = z
  .string()
  // A literal + in a query string is a space once decoded.
  .transform((order) => order.replace(/^ /, "+"))
  .pipe(z.enum(SORT_ORDERS))
  .openapi("SortOrder", {
    type: "string",
    enum: [...SORT_ORDERS],
    default: "-created_at",
    description: "`created_at` and `+created_at` list the oldest first, `-created_at` the newest.",
  });

/** Source: docs/api.md, "Lists". */
export const ListQuery = z.object({
  after: z
    .string()
    .regex(/^[\w\-+/=]+$/, "Send a cursor as an earlier next_page gave it.")
    .optional()
    .openapi({
      description: "The `next_page` of an earlier response. Absent: the first page.",
    }),
  limit: z
    .string()
    .regex(/^\d{1,3}$/, LIMIT_MESSAGE)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAXIMUM_LIMIT, LIMIT_MESSAGE)
    .optional()
    .openapi({
      type: "integer",
      format: "int64",
      minimum: 1,
      maximum: MAXIMUM_LIMIT,
      default: DEFAULT_LIMIT,
      description: "The maximum number of resources on a page.",
    }),
  sort_by: SortOrder.optional(),
});

/** For a list of resources that have names of at most `maximum` characters. */
export function namedListQuery(maximum: number) {
  return ListQuery.extend({ name: nameFilter(maximum) });
}

/** @throws BadInput if the cursor is invalid, or was made for another sort order. */
export function toPageRequest(query: z.output<typeof ListQuery>): PageRequest {
  const direction = (query.sort_by ?? "-created_at") === "-created_at" ? "desc" : "asc";
  const after = query.after === undefined ? undefined : decodeCursor(direction, query.after);
  if (query.after !== undefined && !after) {
    const message = "Send a cursor as next_page gave it, with the sort_by it was made under.";
    throw new BadInput([{ path: "after", message }]);
  }
  return { limit: query.limit ?? DEFAULT_LIMIT, direction, after };
}

export function toNamedPageRequest(
  query: z.output<ReturnType<typeof namedListQuery>>,
): NamedPageRequest {
  return { ...toPageRequest(query), name: query.name };
}

/** Source: docs/api.md, "Lists". */
export function envelopeOf<Schema extends z.ZodType>(item: Schema, name: string) {
  return z.object(envelopeFields(item)).openapi(name, { description: "One page of a list." });
}

export function envelopeFields<Schema extends z.ZodType>(item: Schema) {
  return {
    data: z.array(item).openapi({ description: "The resources of this page." }),
    has_more: z.boolean().openapi({ description: "Whether there is a next page." }),
    next_page: z
      .string()
      .regex(/^[a-zA-Z0-9+/=]+$/)
      .optional()
      .openapi({
        description: "The cursor of the next page. Absent on the last page.",
        example: encodeCursor("desc", {
          createdAt: 1_795_253_400_000,
          id: EXAMPLE_IDS.project,
        }),
      }),
  };
}

export function toEnvelope<Row, Wire>({ rows, next }: Page<Row>, toWire: (row: Row) => Wire) {
  return {
    data: rows.map(toWire),
    has_more: next !== undefined,
    ...(next !== undefined && { next_page: next }),
  };
}

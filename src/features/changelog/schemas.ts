import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { Identifier, Timestamp } from "../../lib/schemas.ts";
import { ACTIONS, RECORD_TYPES } from "./index.ts";

const Fields = z.record(z.string(), z.unknown());

export const ChangelogEntry = z
  .object({
    id: Identifier,
    project_id: Identifier,
    action: z.enum(ACTIONS),
    record: z
      .object({
        type: z.enum(RECORD_TYPES),
        id: Identifier.openapi({ description: "For a project member, the ID of the membership." }),
        name: z.string().optional().openapi({ description: "The name at the time of the change." }),
      })
      .openapi({ description: "The changed record. It may be deleted by now." }),
    actor: z
      .object({ account_id: Identifier, membership_id: Identifier, key_id: Identifier })
      .optional()
      .openapi({ description: "Who made the change. Absent: the service itself." }),
    before: Fields.optional().openapi({
      description:
        "The changed fields, as they were before. Absent for a created record. A field over 16 KiB " +
        "is replaced by its length, in `characters`. Entries never contain the values of variables " +
        "or other secrets.",
      example: { name: "api" },
    }),
    after: Fields.optional().openapi({
      description: "The same fields after the change. Absent for a deleted record.",
      example: { name: "web" },
    }),
    created_at: Timestamp,
  })
  .openapi("ChangelogEntry");

export const ChangelogEntryList = envelopeOf(ChangelogEntry, "ChangelogEntryList");

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
        id: Identifier.openapi({ description: "Of a project's member, the membership." }),
        name: z.string().optional().openapi({ description: "What it was called then." }),
      })
      .openapi({ description: "What was changed; it may be gone since." }),
    actor: z
      .object({ account_id: Identifier, membership_id: Identifier, key_id: Identifier })
      .optional()
      .openapi({ description: "Who did it; absent where the service did it by itself." }),
    before: Fields.optional().openapi({
      description:
        "The fields that changed, as they were; absent for a record that was made. Of a field over " +
        "16 KiB there is its length, in `characters`. Values of variables and other secrets are in " +
        "no entry.",
      example: { name: "api" },
    }),
    after: Fields.optional().openapi({
      description: "The same fields as they were then; absent for a record that was deleted.",
      example: { name: "web" },
    }),
    created_at: Timestamp,
  })
  .openapi("ChangelogEntry");

export const ChangelogEntryList = envelopeOf(ChangelogEntry, "ChangelogEntryList");

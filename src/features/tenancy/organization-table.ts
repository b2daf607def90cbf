import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt, version } from "../../db/columns.ts";
import { TOMBSTONE_NAME } from "../../db/tombstone.ts";

export const organizations = sqliteTable("organizations", {
  id: id("id").primaryKey(),
  name: text("name").notNull(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
  /** The maximum lifetime of new API keys. Null: unlimited. */
  maxKeyAgeSeconds: integer("max_key_age_seconds"),
  /** Its share of the deliveries while several organizations wait, relative to theirs. */
  deliveryWeight: integer("delivery_weight").notNull().default(1),
  version: version(),
});

export const ORGANIZATION_TOMBSTONE = {
  name: TOMBSTONE_NAME,
  maxKeyAgeSeconds: null,
  deliveryWeight: 1,
};

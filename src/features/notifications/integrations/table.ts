import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt } from "../../../db/columns.ts";
import { organizations } from "../../organizations/table.ts";
import { projects } from "../../projects/table.ts";
import { DISABLED_REASONS, INTEGRATION_TYPES } from "./model.ts";

/** Where the notifications of a project go. */
export const integrations = sqliteTable(
  "integrations",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    projectId: id("project_id")
      .notNull()
      .references(() => projects.id, { onDelete: "restrict" }),
    type: text("type", { enum: INTEGRATION_TYPES }).notNull(),
    /** JSON: each kind of notification, and whether it is wanted. */
    configuration: text("configuration").notNull(),
    /** Sealed: it may carry credentials. */
    url: text("url").notNull(),
    /** What of the URL may be shown. */
    shownUrl: text("shown_url").notNull(),
    /** Sealed; what webhooks are signed with. */
    secret: text("secret"),
    /** Sealed; what they are signed with as well, for a day after a rotation. */
    previousSecret: text("previous_secret"),
    previousSecretUntil: time("previous_secret_until"),
    disabledAt: time("disabled_at"),
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    /** The first failure since the last success. */
    failingSince: time("failing_since"),
    /** Until then the endpoint has asked for rest. */
    pausedUntil: time("paused_until"),
    /** When the newest request was begun, which Slack's pace is kept by. */
    lastSentAt: time("last_sent_at"),
    /** The origin under which people reach this service, for links in messages. */
    linksTo: text("links_to"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("integrations_list").on(table.projectId, table.createdAt, table.id)],
);

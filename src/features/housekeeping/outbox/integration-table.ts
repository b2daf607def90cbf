import { sql } from "drizzle-orm";
import { index, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, time, updatedAt, version } from "../../../db/columns.ts";
import { TOMBSTONE_ORGANIZATION_ID } from "../../../db/tombstone.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { DISABLED_REASONS, INTEGRATION_TYPES } from "./model.ts";

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
    /** JSON: a `Configuration`. */
    configuration: text("configuration").notNull(),
    /** Encrypted: it may contain credentials. */
    url: text("url").notNull(),
    /** Without the secret parts; empty for Slack. */
    maskedUrl: text("shown_url").notNull(),
    /** JSON: a list of IDs, of deleted environments too. Null: events of every environment. */
    environmentIds: text("environment_ids"),
    /** JSON: a list of IDs, of deleted stacks too. Null: events of every stack. */
    stackIds: text("stack_ids"),
    /** Encrypted. Null for Slack. */
    secret: text("secret"),
    /** Encrypted. Signs webhooks too, for a day after a rotation. */
    previousSecret: text("previous_secret"),
    previousSecretUntil: time("previous_secret_until"),
    disabledAt: time("disabled_at"),
    disabledReason: text("disabled_reason", { enum: DISABLED_REASONS }),
    failingSince: time("failing_since"),
    pausedUntil: time("paused_until"),
    /** When the project was last told that it fails. A success does not clear it. */
    failureNotifiedAt: time("failure_notified_at"),
    /** When the project was last told of a long pause. */
    pauseNotifiedAt: time("pause_notified_at"),
    /** The last claim for Slack, which it throttles: the trigger `deliveries_throttle_slack` sets it. */
    lastSentAt: time("last_sent_at"),
    /** The origin of this service, for links in Slack messages. */
    linksTo: text("links_to"),
    /** JSON: a `SlackChannel`. Null for webhooks. */
    slackChannel: text("slack_channel"),
    /** Null until an owner has confirmed a Slack installation. Webhooks need no confirmation. */
    confirmedAt: time("confirmed_at"),
    /** When an unconfirmed installation is deleted. Null after the confirmation. */
    confirmBy: time("confirm_by"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    version: version(),
  },
  (table) => [
    index("integrations_list").on(table.projectId, table.createdAt, table.id),
    index("integrations_unconfirmed").on(table.confirmBy).where(sql`confirm_by is not null`),
  ],
);

/** Nothing is sent to an integration until it is confirmed. The same rule as `isConfirmed`. */
export const IS_CONFIRMED = sql`(integrations.type <> 'slack' or integrations.confirmed_at is not null)`;

/** Disabled, so that its pending deliveries are not sent. */
export const INTEGRATION_TOMBSTONE = {
  organizationId: TOMBSTONE_ORGANIZATION_ID,
  configuration: "{}",
  url: "",
  maskedUrl: "",
  environmentIds: null,
  stackIds: null,
  secret: null,
  previousSecret: null,
  previousSecretUntil: null,
  disabledAt: sql`coalesce(disabled_at, created_at)`,
  pausedUntil: null,
  linksTo: null,
  slackChannel: null,
  confirmBy: null,
};

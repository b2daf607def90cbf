import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createdAt, id, updatedAt } from "../../../db/columns.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { projects } from "../../tenancy/project-table.ts";
import { PROVIDERS } from "./model.ts";

export const projectConnections = sqliteTable("project_connections", {
  projectId: id("project_id")
    .primaryKey()
    .references(() => projects.id, { onDelete: "restrict" }),
  organizationId: id("organization_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "restrict" }),
  provider: text("provider", { enum: PROVIDERS }).notNull(),
  /** The account at the provider, not a row of `accounts`. */
  accountId: text("account_id").notNull(),
  region: text("region").notNull(),
  roleArn: text("role_arn"),
  /** Generated, and not chosen by a caller, so that no organization can name the role of another. */
  externalId: text("external_id"),
  /** JSON: the fields of a connection to another provider than AWS. The columns for AWS are empty then. */
  settings: text("settings"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

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
  externalId: text("external_id"),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

import { index, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { createdAt, id } from "../../../db/columns.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { organizations } from "../../tenancy/organization-table.ts";
import { APPROVAL_DECISIONS } from "../conditions/model.ts";
import { deployments } from "../deployments/table.ts";

/** One of each person and deployment: the newest. */
export const deploymentApprovals = sqliteTable(
  "deployment_approvals",
  {
    id: id("id").primaryKey(),
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    environmentId: id("environment_id")
      .notNull()
      .references(() => environments.id, { onDelete: "restrict" }),
    deploymentId: id("deployment_id")
      .notNull()
      .references(() => deployments.id, { onDelete: "restrict" }),
    /** Of somebody who may have left. */
    membershipId: id("membership_id").notNull(),
    decision: text("decision", { enum: APPROVAL_DECISIONS }).notNull(),
    comment: text("comment"),
    /** SHA-256 of the configuration that was decided about, hexadecimal. Null: given before this column. */
    configurationDigest: text("configuration_digest"),
    /** SHA-256 of the content that was decided about, hexadecimal. */
    digest: text("digest").notNull(),
    /** JSON: `BASIS`. */
    basis: text("basis").notNull(),
    /** Empty: only rows from before `configuration_digest` have a copy. A trigger empties it after the start. */
    content: text("content").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    uniqueIndex("deployment_approvals_member").on(table.deploymentId, table.membershipId),
    index("deployment_approvals_environment").on(table.environmentId),
  ],
);

import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { id } from "../../../db/columns.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { QUOTAS } from "../../../lib/resource-types.ts";
import { organizations } from "../../tenancy/organization-table.ts";

/** What an organization may store, unless an operator has given it a quota of its own. */
export const DEFAULT_QUOTAS = {
  ...QUOTAS,
  stored_bytes: LIMITS.storedBytes.value,
  history_bytes: LIMITS.historyBytes.value,
};
export type QuotaKind = keyof typeof DEFAULT_QUOTAS;

export const QUOTA_KINDS = Object.keys(DEFAULT_QUOTAS) as [QuotaKind, ...QuotaKind[]];

/** Those that an operator has given to an organization. */
export const quotas = sqliteTable(
  "quotas",
  {
    organizationId: id("organization_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "restrict" }),
    kind: text("kind", { enum: QUOTA_KINDS }).notNull(),
    allowed: integer("allowed").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.kind] })],
);

/** The quota of an organization: its own, or `otherwise`. */
export function quotaOf(
  organizationId: SQLWrapper | string,
  kind: SQLWrapper | string,
  otherwise: SQLWrapper | number,
): SQL<number> {
  return sql`coalesce((select quotas.allowed from quotas
    where quotas.organization_id = ${organizationId} and quotas.kind = ${kind}), ${otherwise})`;
}

/** As `id`: the organization with whose other foundations this one shares half of its quotas. Or no row. */
export function selectFounder(organizationId: string): SQL {
  return sql`select organizations.limits_organization_id as id
    from organizations indexed by organizations_founded
    where organizations.id = ${organizationId} and organizations.limits_organization_id is not null`;
}

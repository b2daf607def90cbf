import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

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

import { eq, type SQL, sql } from "drizzle-orm";
import type { SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { type LimitedKind, QUOTAS } from "../../../lib/resource-types.ts";
import { limitChecks, usage } from "./table.ts";

/** A limit of a write in addition to the quotas of the organization. */
export interface Bound {
  /** The limited resources, for the error message: "stacks in an environment". */
  what: string;
  limit: number;
  /** The amounts before and after the write. */
  before: SQL;
  after: SQL;
}

export interface Growth {
  organizationId: string;
  records?: { [Kind in LimitedKind]?: number };
  /** Added UTF-8 bytes, minus those of replaced texts. */
  bytes?: number | SQL;
  bounds?: readonly Bound[];
}

/** Reads the state before the write, so that the result is the same after a rollback. */
function selectExceeded(growth: Growth): SQL {
  const { organizationId, records = {}, bytes = 0, bounds = [] } = growth;
  const added = Object.entries(records).map(([kind, count]) => ({
    kind,
    count,
    allowed: QUOTAS[kind as LimitedKind],
  }));
  const exceededQuotas = sql`select replace(item.value ->> 'kind', '_', ' ') as what,
      item.value ->> 'allowed' as allowed
    from json_each(${JSON.stringify(added)}) as item
    join usage on usage.organization_id = ${organizationId}
      and usage.kind = item.value ->> 'kind'
    where item.value ->> 'count' > 0
      and usage.records + (item.value ->> 'count') > (item.value ->> 'allowed')`;
  const storage = sql`select 'bytes', ${LIMITS.storedBytes.value} where ${bytes} > 0
    and (select sum(usage.bytes) from usage
      where usage.organization_id = ${organizationId}) + ${bytes} > ${LIMITS.storedBytes.value}`;
  const others = bounds.map(
    ({ what, limit, before, after }) =>
      sql`select ${what}, ${limit} where ${after} > ${limit} and ${after} > ${before}`,
  );
  return sql.join([exceededQuotas, storage, ...others], sql` union all `);
}

/** Fails its batch if the write would exceed a limit. */
export function checkLimits(ctx: SystemContext, growth: Growth) {
  return insertFrom(
    ctx.db,
    limitChecks,
    { organizationId: growth.organizationId, isWithin: 0 },
    sql`from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

export function findExceeded(ctx: SystemContext, growth: Growth) {
  return ctx.db.get<{ what: string; allowed: number } | undefined>(
    sql`select what, allowed from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

export function sumStoredBytes(db: Database, organizationId: string) {
  return db
    .select({ bytes: sql<number>`coalesce(sum(${usage.bytes}), 0)`.as("stored_bytes") })
    .from(usage)
    .where(eq(usage.organizationId, organizationId));
}

export function listUsage(db: Database, organizationId: string) {
  return db.select().from(usage).where(eq(usage.organizationId, organizationId));
}

import { eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { LIMITS } from "../../lib/limits.ts";
import { type LimitedKind, RECORD_QUOTAS } from "./model.ts";
import { limitChecks, usage } from "./table.ts";

/** A limit of its own that a write must keep, beside the quotas of the organization. */
export interface Bound {
  /** What there is too much of, for the message: "stacks in an environment". */
  what: string;
  limit: number;
  /** The amount as it is, and as the write leaves it. */
  before: SQL;
  after: SQL;
}

/** What a write adds to an organization. */
export interface Growth {
  organizationId: string;
  /** How many records of each kind. */
  records?: { [Kind in LimitedKind]?: number };
  /** UTF-8 bytes of what is stored, less those of what it replaces. */
  bytes?: number | SQL;
  bounds?: readonly Bound[];
}

/**
 * The limits that a write would exceed, as `what` and `allowed`. It reads the state before the
 * write, so that it gives the same answer after a rollback.
 */
function selectExceeded({ organizationId, records = {}, bytes = 0, bounds = [] }: Growth): SQL {
  const added = Object.entries(records).map(([kind, count]) => ({
    kind,
    count,
    allowed: RECORD_QUOTAS[kind as LimitedKind],
  }));
  const quotas = sql`select replace(item.value ->> 'kind', '_', ' ') as what,
      item.value ->> 'allowed' as allowed
    from json_each(${JSON.stringify(added)}) as item
    join ${usage} as used on used.organization_id = ${organizationId}
      and used.kind = item.value ->> 'kind'
    where item.value ->> 'count' > 0
      and used.records + (item.value ->> 'count') > (item.value ->> 'allowed')`;
  const storage = sql`select 'bytes', ${LIMITS.storedBytes.value} where ${bytes} > 0
    and (select sum(used.bytes) from ${usage} as used
      where used.organization_id = ${organizationId}) + ${bytes} > ${LIMITS.storedBytes.value}`;
  const further = bounds.map(
    ({ what, limit, before, after }) =>
      sql`select ${what}, ${limit} where ${after} > ${limit} and ${after} > ${before}`,
  );
  return sql.join([quotas, storage, ...further], sql` union all `);
}

/** Fails the batch that it is in, before the write, if the write would exceed a limit. */
export function checkLimits(db: Database, growth: Growth) {
  return insertFrom(
    db,
    limitChecks,
    { organizationId: growth.organizationId, isWithin: 0 },
    sql`from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

/** The first limit that a write would exceed, for the message. */
export function findExceeded(db: Database, growth: Growth) {
  return db.get<{ what: string; allowed: number } | undefined>(
    sql`select what, allowed from (${selectExceeded(growth)}) as exceeded limit 1`,
  );
}

export function listUsage(db: Database, organizationId: string) {
  return db.select().from(usage).where(eq(usage.organizationId, organizationId));
}

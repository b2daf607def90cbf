import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { isDatabaseFull } from "../../../lib/database-size.ts";
import type { LimitedKind } from "../../../lib/resource-types.ts";
import { DEFAULT_QUOTAS, quotaOf, selectFounder } from "../quotas/index.ts";

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
  /** It ends by itself, such as a session: a full database does not refuse it. */
  isTemporary?: boolean;
}

export const DATABASE = "database";
const OF_FOUNDER = " in all organizations of the same founder";

/**
 * `what` and `allowed` of each limit that a write would exceed. Reads the state before the write, so that
 * the result is the same after a rollback.
 */
export function selectExceeded(growth: Growth): SQL {
  const { organizationId, bytes = 0, bounds = [], isTemporary } = growth;
  const records = Object.entries(growth.records ?? {}).filter(([, count]) => count > 0);
  const isRefused = isDatabaseFull() && !isTemporary;
  const parts = [
    ...(records.length > 0 ? [selectExceededQuotas(organizationId, records)] : []),
    sql`select storage.what as what, storage.allowed as allowed
      from (select ${bytes} as bytes) as added cross join (${selectStorage(organizationId)}) as storage
      where added.bytes > 0 and storage.used + added.bytes > storage.allowed`,
    ...bounds.map(
      ({ what, limit, before, after }) =>
        sql`select ${what}, ${limit} where ${after} > ${limit} and ${after} > ${before}`,
    ),
    ...(isRefused ? [sql`select ${DATABASE}, 0 where ${grows(growth, records.length)}`] : []),
  ];
  return sql.join(parts, sql` union all `);
}

/** Of an organization by itself, and of those that share a founder's quotas, which have half of them. */
function selectExceededQuotas(
  organizationId: string,
  records: readonly (readonly [string, number])[],
): SQL {
  const items = JSON.stringify(
    records.map(([kind, count]) => ({ kind, count, quota: DEFAULT_QUOTAS[kind as LimitedKind] })),
  );
  const [kind, count] = [sql`item.value ->> 'kind'`, sql`item.value ->> 'count'`];
  const quota = (id: SQLWrapper | string) => quotaOf(id, kind, sql`item.value ->> 'quota'`);
  const what = sql`replace(${kind}, '_', ' ')`;
  const used = sql`coalesce((select usage.records from usage
    where usage.organization_id = ${organizationId} and usage.kind = ${kind}), 0)`;
  const half = sql`${quota(FOUNDER)} / 2`;
  return sql`select ${what} as what, ${quota(organizationId)} as allowed
      from json_each(${items}) as item where ${used} + ${count} > ${quota(organizationId)}
    union all select ${what} || ${OF_FOUNDER}, ${half}
      from (${selectFounder(organizationId)}) as founder cross join json_each(${items}) as item
      where ${sumOfFounded("records", kind)} + ${count} > ${half}`;
}

/** The quota of bytes, and what is used of it, like `selectExceededQuotas`. */
export function selectStorage(organizationId: string): SQL {
  const quota = (id: SQLWrapper | string) =>
    quotaOf(id, "stored_bytes", DEFAULT_QUOTAS.stored_bytes);
  return sql`select 'bytes' as what, ${quota(organizationId)} as allowed,
      coalesce((select sum(usage.bytes) from usage
        where usage.organization_id = ${organizationId}), 0) as used
    union all select ${`bytes${OF_FOUNDER}`}, ${quota(FOUNDER)} / 2, ${sumOfFounded("bytes")}
      from (${selectFounder(organizationId)}) as founder`;
}

const FOUNDER = sql`founder.id`;

function sumOfFounded(column: "records" | "bytes", kind?: SQL): SQL {
  return sql`coalesce((select sum(usage.${sql.identifier(column)})
    from organizations as member indexed by organizations_limits
    join usage on usage.organization_id = member.id ${kind && sql`and usage.kind = ${kind}`}
    where member.limits_organization_id = ${FOUNDER}), 0)`;
}

/** Whether a write adds anything. */
function grows({ bytes = 0, bounds = [] }: Growth, records: number): SQL {
  if (records > 0) return sql`true`;
  const added = bounds.map(({ before, after }) => sql`${after} > ${before}`);
  return sql.join([sql`${bytes} > 0`, ...added], sql` or `);
}

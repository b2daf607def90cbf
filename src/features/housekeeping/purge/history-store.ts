import { and, asc, eq, getTableName, gt, lte, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { idOf, type RolledTable } from "../../../db/ownership.ts";
import { rowBytes } from "../../../db/row-bytes.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { auditLog } from "../audit/table.ts";
import { quotaOf } from "../quotas/index.ts";
import { AUDIT_KIND } from "../usage/model.ts";
import { historyUsage } from "../usage/table.ts";

/** How many rows of `historyUsage` one run reads. The next run reads the next ones. */
const SCANNED = 5_000;

/** Of the half of a share that founded organizations have together. */
const SMALLEST_PART = 100;

/** Some of the organizations whose history is beyond their share. In a random order. */
export async function listBeyondShare(
  db: Database,
  { minute, limit }: { minute: number; limit: number },
): Promise<string[]> {
  const found = await db.all<{ id: string }>(sql`
    with first(position) as (
      select ${minute} % (1 + coalesce(max(rowid), 0) / ${SCANNED}) * ${SCANNED} from ${historyUsage}
    ), each(id) as (
      select distinct organization_id from first cross join ${historyUsage} as counted
      where counted.rowid between first.position and first.position + ${SCANNED - 1}
    ) select id from each where ${excessOf(sql`each.id`)} > 0 order by random() limit ${limit}`);
  return found.map(({ id }) => id);
}

/** The bytes of an organization's history beyond its share. */
export async function findExcess(db: Database, organizationId: string): Promise<number> {
  const found = await db.get<{ excess: number }>(
    sql`select ${excessOf(sql`${organizationId}`)} as excess`,
  );
  return found.excess;
}

/**
 * Organizations that one has founded have half of a share together. Those that use more than their part of it
 * are beyond it, too, while all together are.
 */
function excessOf(organizationId: SQL): SQL {
  const own = historyBytes(organizationId);
  const founder = sql`(select own.limits_organization_id from organizations as own
    where own.id = ${organizationId})`;
  const share = shareOf(organizationId);
  const half = sql`${shareOf(founder)} / 2`;
  const ofFounded = sql`select min(sum(${historyBytes(sql`founded.id`)}) - ${half}, ${own} - ${half} / count(*))
    from organizations as founded where founded.limits_organization_id = ${founder}`;
  // Whose part is smaller than any is not compared, because the sum reads the history of all.
  return sql`max(${own} - ${share}, coalesce(
    iif(${own} > ${half} / ${SMALLEST_PART}, (${ofFounded}), null), ${own} - ${share}))`;
}

function shareOf(organizationId: SQL): SQL<number> {
  return quotaOf(organizationId, "history_bytes", LIMITS.historyBytes.value);
}

function historyBytes(organizationId: SQL): SQL {
  return sql`coalesce((select sum(history.bytes) from ${historyUsage} as history
    where history.organization_id = ${organizationId} and history.kind <> ${AUDIT_KIND}), 0)`;
}

const isOf = ({ table, indexed }: RolledTable, organizationId: string) =>
  and(sql`${table}.organization_id = ${organizationId}`, indexed);

/** The ID of the oldest row of each table after a position. */
export async function findOldest(
  db: Database,
  organizationId: string,
  positions: readonly { rolled: RolledTable; after: string }[],
): Promise<(string | undefined)[]> {
  const columns = positions.map(({ rolled, after }, at) => {
    const id = idOf(rolled.table);
    const where = and(isOf(rolled, organizationId), gt(id, after));
    return sql`(select ${id} from ${rolled.table} where ${where} order by ${id} limit 1)
      as ${sql.identifier(`id${at}`)}`;
  });
  const found = await db.get<Record<string, string | null>>(
    sql`select ${sql.join(columns, sql`, `)}`,
  );
  return positions.map((_, at) => found[`id${at}`] ?? undefined);
}

/** Of the rows with IDs after `after`, the oldest. */
export async function listOldest(
  db: Database,
  rolled: RolledTable,
  { organizationId, after, until, now }: OldestRange,
  limit: number,
) {
  const { table, mayGo = sql`true`, children = sql`0`, hasLog } = rolled;
  const id = idOf(table);
  const rows = await db
    .select({
      id: sql<string>`${id}`.as("id"),
      mayGo: sql<number>`${mayGo}`.as("may_go"),
      hasLog: sql<number>`${hasLog?.(now) ?? sql`false`}`.as("has_log"),
      children: sql<number>`${children}`.as("children"),
      bytes: sql<number>`${sql.raw(rowBytes(table, getTableName(table)))}`.as("bytes"),
    })
    .from(table)
    .where(and(isOf(rolled, organizationId), gt(id, after), lte(id, until)))
    .orderBy(asc(id))
    .limit(limit);
  return rows.map((row) => ({ ...row, mayGo: row.mayGo === 1, hasLog: row.hasLog === 1 }));
}

interface OldestRange {
  organizationId: string;
  after: string;
  /** Inclusive. */
  until: string;
  now: number;
}

/** What must hold when a row is deleted, too. */
export const isRollable = ({ indexed, mayGo }: RolledTable): SQL | undefined => and(indexed, mayGo);

export async function findLargestAuditLog(db: Database): Promise<string | undefined> {
  const [largest] = await db
    .select({ id: historyUsage.organizationId })
    .from(historyUsage)
    .where(eq(historyUsage.kind, AUDIT_KIND))
    .orderBy(sql`${historyUsage.bytes} desc`)
    .limit(1);
  return largest?.id;
}

export function deleteOldestEntries(db: Database, organizationId: string, limit: number) {
  const oldest = sql`(select rowid from ${auditLog}
    where ${eq(auditLog.organizationId, organizationId)}
    order by ${auditLog.createdAt}, ${auditLog.id} limit ${limit})`;
  return { entries: db.delete(auditLog).where(sql`${auditLog}.rowid in ${oldest}`) };
}

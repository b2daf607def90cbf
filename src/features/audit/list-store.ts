import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  lt,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import {
  CUMULATIVE_BYTES,
  keyset,
  limitPageBytes,
  type PageRequest,
  pageOrder,
  sizeOf,
} from "../../db/keyset.ts";
import type { AuditedAction } from "./model.ts";
import { auditLog } from "./table.ts";

export type RecordRow = typeof auditLog.$inferSelect;

export interface RecordFilter {
  /** Of a credential or a membership. */
  actorId: string | undefined;
  /** Empty: every action. */
  actions: readonly AuditedAction[];
  targetId: string | undefined;
  projectId: string | undefined;
  /** Inclusive, in milliseconds since the Unix epoch. */
  from: number | undefined;
  /** Exclusive. */
  to: number | undefined;
}

export function listRecords(
  db: Database,
  organizationId: string,
  filter: RecordFilter,
  page: PageRequest,
) {
  const { id, createdAt, targetName, userAgent, clientAddress, changes } = auditLog;
  const { orderBy, limit } = keyset(page, createdAt, id);
  const size = sizeOf({ json: [changes], text: [targetName, userAgent, clientAddress], rest: 800 });
  const records = db
    .select({ id, createdAt, size })
    .from(auditLog)
    .where(sql`${id} in (${selectIds(organizationId, filter, page)})`)
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...getTableColumns(auditLog), ...CUMULATIVE_BYTES })
    .from(limitPageBytes(page, records))
    .innerJoin(auditLog, sql`${id} = page.id`)
    .orderBy(pageOrder(page));
}

/**
 * The IDs of the records of a page, or of one page for each action or kind of actor. Names the index
 * of the narrowest filter: SQLite does not know how many rows an organization has. The other filters
 * apply to the rows that it finds.
 */
function selectIds(organizationId: string, filter: RecordFilter, page: PageRequest): SQL {
  const { actorId, actions, targetId, projectId } = filter;
  const rest = and(
    eq(auditLog.organizationId, organizationId),
    ...conditionsOf(filter),
    within(filter, page),
  );
  const order = page.direction === "asc" ? asc : desc;
  const branch = (index: string, condition: SQL = sql`true`) =>
    sql`select audit_log.id from audit_log indexed by ${sql.raw(index)} where ${and(condition, rest)}
      order by ${order(auditLog.createdAt)}, ${order(auditLog.id)} limit ${page.limit + 1}`;
  if (targetId) return branch("audit_log_target");
  if (actorId) {
    const credential = branch("audit_log_credential", eq(auditLog.credentialId, actorId));
    const membership = branch("audit_log_membership", eq(auditLog.membershipId, actorId));
    return sql`select id from (${credential}) union all select id from (${membership})`;
  }
  if (projectId) return branch("audit_log_project");
  if (actions.length === 0) return branch("audit_log_list");
  const ofAction = branch("audit_log_action", sql`${auditLog.action} = item.value`);
  return sql`select found.id from json_each(${JSON.stringify(actions)}) as item
    join audit_log as found on found.id in (${ofAction})`;
}

function conditionsOf({ actorId, actions, targetId, projectId }: RecordFilter) {
  return [
    targetId && eq(auditLog.targetId, targetId),
    projectId && eq(auditLog.projectId, projectId),
    actorId && or(eq(auditLog.credentialId, actorId), eq(auditLog.membershipId, actorId)),
    actions.length > 0 ? inArray(auditLog.action, [...actions]) : undefined,
  ].map((condition) => condition || undefined);
}

/** With a cursor within the range, without the bound before it: SQLite starts at one of the two. */
function within({ from, to }: RecordFilter, page: PageRequest): SQL | undefined {
  const { createdAt, id } = auditLog;
  const { direction, after } = page;
  const isAscending = direction === "asc";
  const isInRange =
    after && (isAscending ? after.createdAt >= (from ?? 0) : after.createdAt < (to ?? Infinity));
  return and(
    isInRange ? keyset(page, createdAt, id).where : undefined,
    from === undefined || (isInRange && isAscending) ? undefined : gte(createdAt, from),
    to === undefined || (isInRange && !isAscending) ? undefined : lt(createdAt, to),
  );
}

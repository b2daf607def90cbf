import { and, eq, getTableColumns, gte, inArray, lt, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import {
  keyset,
  limitPageBytes,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import type { AuditedAction } from "../../../lib/resource-types.ts";
import { auditLog } from "./table.ts";

export type AuditEntryRow = typeof auditLog.$inferSelect;

export interface AuditFilter {
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

const SIZE = sizeOf({
  json: [auditLog.changes],
  text: [auditLog.targetName, auditLog.userAgent, auditLog.clientAddress],
  rest: 800,
});
const PAGE_RECORD = sql`select ${auditLog.id} as id, ${auditLog.createdAt} as created_at,
  ${SIZE.sql} as size from audit_log`;

export function listEntries(
  db: Database,
  organizationId: string,
  filter: AuditFilter,
  page: PageRequest,
) {
  const items = sql`(${selectMatching(organizationId, filter, page)} ${firstOf(page)})`;
  return db
    .select({ ...getTableColumns(auditLog), ...PAGE_POSITION })
    .from(limitPageBytes(page, items))
    .innerJoin(auditLog, sql`${auditLog.id} = page.id`);
}

/** One more than the page holds, as in `keyset`. */
function firstOf({ direction, limit }: PageRequest): SQL {
  const order = sql.raw(direction);
  return sql`order by created_at ${order}, id ${order} limit ${limit + 1}`;
}

/**
 * Names the index of the narrowest filter: SQLite does not know how many rows an organization has.
 * The other filters apply to the rows that it finds.
 */
function selectMatching(organizationId: string, filter: AuditFilter, page: PageRequest): SQL {
  const { actorId, actions, targetId, projectId } = filter;
  const rest = and(
    eq(auditLog.organizationId, organizationId),
    matches(filter),
    within(filter, page),
  );
  const select = (index: string, condition?: SQL) =>
    sql`${PAGE_RECORD} indexed by ${sql.raw(index)} where ${and(condition, rest)}`;
  if (targetId) return select("audit_log_target");
  if (actorId) {
    // SQLite merges the branches, so that it sorts nothing.
    const byCredential = select("audit_log_credential", eq(auditLog.credentialId, actorId));
    const byMembership = select("audit_log_membership", eq(auditLog.membershipId, actorId));
    return sql`${byCredential} union all ${byMembership}`;
  }
  if (projectId) return select("audit_log_project");
  if (actions.length < 2)
    return select(actions.length === 1 ? "audit_log_action" : "audit_log_list");
  // A page of each action: a compound select could not have as many branches.
  const ofAction = sql`select ${auditLog.id} from audit_log indexed by audit_log_action
    where ${and(sql`${auditLog.action} = item.value`, rest)}
    ${firstOf(page)}`;
  return sql`${PAGE_RECORD} where ${auditLog.id} in (
    select found.id from json_each(${JSON.stringify(actions)}) as item
    join audit_log as found on found.id in (${ofAction}))`;
}

function matches({ actorId, actions, targetId, projectId }: AuditFilter): SQL | undefined {
  const { credentialId, membershipId } = auditLog;
  return and(
    targetId ? eq(auditLog.targetId, targetId) : undefined,
    projectId ? eq(auditLog.projectId, projectId) : undefined,
    actorId ? or(eq(credentialId, actorId), eq(membershipId, actorId)) : undefined,
    actions.length > 0 ? inArray(auditLog.action, [...actions]) : undefined,
  );
}

/** The cursor comes first: of two bounds on one side, SQLite starts at the first. */
function within({ from, to }: AuditFilter, page: PageRequest): SQL | undefined {
  const { createdAt, id } = auditLog;
  return and(
    keyset(page, createdAt, id).where,
    from === undefined ? undefined : gte(createdAt, from),
    to === undefined ? undefined : lt(createdAt, to),
  );
}

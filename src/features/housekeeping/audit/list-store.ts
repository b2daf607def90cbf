import { and, eq, getTableColumns, gte, lt, or, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import {
  firstOf,
  isNamed,
  keyset,
  limitPageBytes,
  matchingOf,
  PAGE_POSITION,
  type PageRequest,
  sizeOf,
} from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { MAXIMUM_BRANCHES, unionOf } from "../../../db/union-branches.ts";
import type { AuditedAction } from "../../../lib/resource-types.ts";
import { memberNameOf } from "./member-name.ts";
import { auditLog } from "./table.ts";
import { type NamedRow, namedColumn, parentColumns } from "./targets.ts";

export interface AuditEntryRow extends NamedRow, Row {
  actorName: string | null;
  projectName: string | null;
  sourceName: string | null;
}
type Row = typeof auditLog.$inferSelect;

export interface AuditFilter {
  /** Of a credential or a membership. */
  actorId: string | undefined;
  /** Empty: every action. */
  actions: readonly AuditedAction[];
  targetId: string | undefined;
  projectId: string | undefined;
  /** As the entries have them. */
  actorName: string | undefined;
  targetName: string | undefined;
  /** Inclusive, in milliseconds since the Unix epoch. */
  from: number | undefined;
  /** Exclusive. */
  to: number | undefined;
}

const SIZE = sizeOf({
  json: [auditLog.changes],
  text: [auditLog.targetName, auditLog.targetName, auditLog.userAgent, auditLog.clientAddress],
  rest: 2_000,
}).sql;

/** Of who has made an entry. What is deleted has none. */
const ACTOR_NAME = sql<
  string | null
>`case when audit_log.membership_id is not null then ${memberNameOf("audit_log")}
  when audit_log.pool_id is not null
    then (select runner_pools.name from runner_pools where runner_pools.id = audit_log.pool_id)
  when audit_log.actor_type = 'trust'
    then (select trusts.name from trusts where trusts.id = audit_log.credential_id) end`;

const ORGANIZATION = sql`audit_log.organization_id`;

/** The names of everything but the actor. A session has the name of its key. */
const NAMES = {
  ...parentColumns({
    table: "audit_log",
    target: "target",
    fieldOf: (version, name) => sql`audit_log.changes ->> ${sql.raw(`'$.${version}.${name}'`)}`,
  }),
  projectName: namedColumn("projects", sql`audit_log.project_id`, ORGANIZATION).as("project_name"),
  sourceName: sql<string | null>`case audit_log.actor_type
    when 'api_key' then ${namedColumn("api_keys", sql`audit_log.credential_id`, ORGANIZATION)}
    when 'session' then ${namedColumn("api_keys", sql`audit_log.creator_key_id`, ORGANIZATION)}
    when 'runner_token'
      then ${namedColumn("runner_tokens", sql`audit_log.credential_id`, ORGANIZATION)}
    end`.as("source_name"),
};

/** Of one query that merges a branch for each. */
const MAXIMUM_ACTIONS = 2 * MAXIMUM_BRANCHES - 1;

export function listEntries(
  db: Database,
  organizationId: string,
  filter: AuditFilter,
  page: PageRequest,
) {
  const { actorId, actions, targetId, projectId, actorName, targetName } = filter;
  const filters = [actorId, actions[0], targetId, projectId].filter((each) => each !== undefined);
  // No index has the names.
  const hasName = actorName !== undefined || targetName !== undefined;
  const searches = hasName || filters.length > 1 || actions.length > MAXIMUM_ACTIONS;
  const items = (size: SQL) => selectBy(organizationId, filter, page, size);
  const found = searches
    ? matchingOf(page, items(sql`iif(${matches(filter)}, ${SIZE}, 0)`))
    : firstOf(page, items(SIZE));
  return db
    .select({
      ...getTableColumns(auditLog),
      actorName: ACTOR_NAME.as("actor_name"),
      ...NAMES,
      ...PAGE_POSITION,
    })
    .from(limitPageBytes(page, found))
    .innerJoin(auditLog, sql`${auditLog.id} = page.id`);
}

/**
 * Names the index of the narrowest filter: SQLite does not know how many rows an organization has.
 * Of several filters, it applies only this one, and none for many actions.
 */
function selectBy(organizationId: string, filter: AuditFilter, page: PageRequest, size: SQL): SQL {
  const { actorId, actions, targetId, projectId } = filter;
  const inTime = and(eq(auditLog.organizationId, organizationId), within(filter, page));
  const item = sql`select ${auditLog.id} as id, ${auditLog.createdAt} as created_at,
    ${size} as size from audit_log`;
  const select = (index: string, condition?: SQL) =>
    sql`(${item} indexed by ${sql.raw(index)} where ${and(condition, inTime)})`;
  if (targetId) return select("audit_log_target", eq(auditLog.targetId, targetId));
  if (actorId) {
    // SQLite merges the branches, so that it sorts nothing.
    const byCredential = select("audit_log_credential", eq(auditLog.credentialId, actorId));
    const byMembership = select("audit_log_membership", eq(auditLog.membershipId, actorId));
    return unionOf([byCredential, byMembership]);
  }
  if (projectId) return select("audit_log_project", eq(auditLog.projectId, projectId));
  if (actions.length === 0 || actions.length > MAXIMUM_ACTIONS) return select("audit_log_list");
  return unionOf(actions.map((action) => select("audit_log_action", eq(auditLog.action, action))));
}

function matches(filter: AuditFilter): SQL | undefined {
  const { actorId, actions, targetId, projectId, actorName, targetName } = filter;
  const { credentialId, membershipId } = auditLog;
  return and(
    targetId ? eq(auditLog.targetId, targetId) : undefined,
    projectId ? eq(auditLog.projectId, projectId) : undefined,
    actorId ? or(eq(credentialId, actorId), eq(membershipId, actorId)) : undefined,
    actions.length > 0 ? isOneOf(auditLog.action, actions) : undefined,
    actorName === undefined ? undefined : isNamed(ACTOR_NAME, actorName),
    targetName === undefined ? undefined : isNamed(auditLog.targetName, targetName),
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

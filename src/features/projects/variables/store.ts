import { and, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { hasName, keyset, type NamedPageRequest } from "../../../db/keyset.ts";
import { listOf } from "../../../db/list-of.ts";
import { HAS_LIVE_COMPONENT, isInLivePlace } from "../../../db/tombstone.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { components } from "../../tenancy/component-table.ts";
import { environments } from "../../tenancy/environment-table.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../tenancy/project-member-table.ts";
import { selectRules } from "../access/index.ts";
import type { ScopeReference } from "./model.ts";
import { COUNTED } from "./model.ts";
import { variables } from "./table.ts";

/** Without the value, which only `findSealedValue`, `listSealedValues` and `listSelected` read. */
export type VariableRow = Omit<typeof variables.$inferSelect, "value">;
export type FoundVariable = Awaited<ReturnType<typeof findVariable>>[number];
export type SealedRow = typeof variables.$inferSelect;
export type NewVariable = typeof variables.$inferInsert;

export const { value: _, ...PUBLIC } = getTableColumns(variables);

const within = (organizationId: string, id: string) =>
  and(
    eq(variables.organizationId, organizationId),
    eq(variables.id, id),
    isInLivePlace(variables),
    HAS_LIVE_COMPONENT,
  );

export const inScope = (organizationId: string, scopeId: string) =>
  and(eq(variables.organizationId, organizationId), eq(variables.scopeId, scopeId));

export function findVariable(db: Database, actor: Actor, id: string) {
  return db
    .select({ ...PUBLIC, rules: selectRules(variables.environmentId), memberRole: MEMBER_ROLE })
    .from(variables)
    .leftJoin(projectMembers, isRoleOf(actor, variables.projectId))
    .where(within(actor.organizationId, id));
}

export function findSealedValue(db: Database, organizationId: string, id: string) {
  return db.select({ value: variables.value }).from(variables).where(within(organizationId, id));
}

/** For the other statements of a batch that reads the variable. */
export function whereVariableExists(organizationId: string, id: string): SQL {
  return sql`exists (select 1 from variables where ${within(organizationId, id)})`;
}

export function listSealedValues(db: Database, organizationId: string, scopeId: string) {
  return db
    .select()
    .from(variables)
    .where(inScope(organizationId, scopeId))
    .orderBy(variables.name);
}

/** For the other statements of a batch that reads all variables of the scope. */
export function whereScopeExists(organizationId: string, { kind, id }: ScopeReference): SQL {
  const table = kind === "component" ? components : environments;
  return sql`exists (select 1 from ${table}
    where ${table.id} = ${id} and ${table.organizationId} = ${organizationId}
      and ${isInLivePlace(table)})`;
}

/**
 * The `changes` of the audit entry of a read of all values: the first names, as many as fit, and the
 * count of all. A name is ASCII without escapes; quotes and a comma surround it.
 */
export function readNames(organizationId: string, scopeId: string): SQL {
  return sql`(select json_object('after', json_object(
      'variables', json_group_array(selected.name) filter
        (where selected.characters < ${LIMITS.auditNamesLength.value}),
      'count', count(*)))
    from (select name, sum(length(name) + 3) over (order by name) as characters
      from variables where ${inScope(organizationId, scopeId)} order by name) as selected)`;
}

export function listVariables(
  db: Database,
  organizationId: string,
  scopeId: string,
  page: NamedPageRequest,
) {
  const { where, orderBy, limit } = keyset(page, variables.createdAt, variables.id);
  return db
    .select(PUBLIC)
    .from(variables)
    .where(and(inScope(organizationId, scopeId), hasName(page, variables.name), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function insertVariable(db: Database, variable: NewVariable) {
  return db.insert(variables).values(variable).returning(PUBLIC);
}

export function replaceVariable(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  change: Pick<NewVariable, "name" | "storageMethod" | "value" | "updatedAt">,
) {
  return ctx.db
    .update(variables)
    .set({ ...change, version: nextVersion(variables.version) })
    .where(and(within(organizationId, id), hasExpectedVersion(ctx, variables.version)))
    .returning(PUBLIC);
}

export function deleteVariable(ctx: ServiceContext, organizationId: string, id: string) {
  return ctx.db
    .delete(variables)
    .where(and(within(organizationId, id), hasExpectedVersion(ctx, variables.version)))
    .returning({ id: variables.id });
}

/** AES-GCM adds an IV of 12 bytes and a tag of 16 bytes to a value before base64. */
const SEAL_BYTES = 28;

/** The length of `key-id.v2.`, or of `key-id.` before key rotation has sealed the value again. */
const PREFIX_BYTES = `instr(variables.value, '.')
  + iif(substr(variables.value, instr(variables.value, '.'), 4) = '.v2.', 3, 0)`;

/** The bytes of plain text in a sealed value, whose last part is base64. */
const PLAIN_BYTES = sql.raw(`(octet_length(variables.value) - (${PREFIX_BYTES})) * 3 / 4
  - (octet_length(variables.value) - octet_length(rtrim(variables.value, '='))) - ${SEAL_BYTES}`);

export function variableBounds(
  environmentId: string,
  written: readonly { id: string; plainText: string }[],
  removedIds: readonly string[] = [],
): readonly Bound[] {
  const all = sql`from variables where variables.environment_id = ${environmentId}
    and ${HAS_LIVE_COMPONENT}`;
  const changedIds = [...written.map(({ id }) => id), ...removedIds];
  const unchanged = sql`${all} and variables.id not in ${listOf(changedIds)}`;
  return [
    {
      what: COUNTED.variables,
      limit: LIMITS.variablesOfEnvironment.value,
      before: sql`(select count(*) ${all})`,
      after: sql`(select count(*) ${unchanged}) + ${written.length}`,
    },
    {
      what: COUNTED.bytes,
      limit: LIMITS.variableBytesOfEnvironment.value,
      before: sql`(select coalesce(sum(${PLAIN_BYTES}), 0) ${all})`,
      after: sql`(select coalesce(sum(${PLAIN_BYTES}), 0) ${unchanged})
        + ${bytesOf(...written.map(({ plainText }) => plainText))}`,
    },
  ];
}

/** The bytes that are added when texts of `bytes` replace the names and values of these variables. */
export function addedBytes(replacedIds: readonly string[], bytes: number): SQL {
  return sql`${bytes} - (select coalesce(sum(octet_length(variables.name)
    + octet_length(variables.value)), 0) from variables where variables.id in ${listOf(replacedIds)})`;
}

import { and, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../project-members/table.ts";
import type { StorageMethod } from "./model.ts";
import { type Scope, scopeIdOf } from "./scope.ts";
import { variables } from "./table.ts";

/** A variable without its value, which takes a query of its own. */
export type VariableRow = Omit<typeof variables.$inferSelect, "value">;
export type NewVariable = typeof variables.$inferInsert;

/** A variable of a bulk request, its value sealed for the row of this ID. */
export interface SealedVariable {
  id: string;
  name: string;
  storageMethod: StorageMethod;
  resourceId: string;
  value: string;
}

const { value: _, ...PUBLIC } = getTableColumns(variables);

const within = (organizationId: string, id: string) =>
  and(eq(variables.organizationId, organizationId), eq(variables.id, id));

const inScope = (organizationId: string, scopeId: string) =>
  and(eq(variables.organizationId, organizationId), eq(variables.scopeId, scopeId));

/** A variable of the actor's organization, with the actor's role in its project. */
export function findVariable(db: Database, actor: Actor, id: string) {
  return db
    .select({ ...PUBLIC, memberRole: MEMBER_ROLE })
    .from(variables)
    .leftJoin(projectMembers, isRoleOf(actor, variables.projectId))
    .where(within(actor.organizationId, id));
}

export function findSealedValue(db: Database, organizationId: string, id: string) {
  return db.select({ value: variables.value }).from(variables).where(within(organizationId, id));
}

export function listVariables(
  db: Database,
  organizationId: string,
  scopeId: string,
  page: PageRequest,
) {
  const { where, orderBy, limit } = keyset(page, variables.createdAt, variables.id);
  return db
    .select(PUBLIC)
    .from(variables)
    .where(and(inScope(organizationId, scopeId), where))
    .orderBy(...orderBy)
    .limit(limit);
}

export function insertVariable(db: Database, variable: NewVariable) {
  return db.insert(variables).values(variable).returning(PUBLIC);
}

export function replaceVariable(
  db: Database,
  organizationId: string,
  id: string,
  change: Pick<NewVariable, "name" | "storageMethod" | "value" | "updatedAt">,
) {
  return db
    .update(variables)
    .set({ ...change, version: sql`${variables.version} + 1` })
    .where(within(organizationId, id))
    .returning(PUBLIC);
}

export function deleteVariable(db: Database, organizationId: string, id: string) {
  return db.delete(variables).where(within(organizationId, id)).returning({ id: variables.id });
}

/** Those variables of a scope that a bulk request reaches: of these names, or all. */
export interface Reach {
  organizationId: string;
  scopeId: string;
  names: readonly string[] | undefined;
}

export function listReach(db: Database, { organizationId, scopeId, names }: Reach) {
  const named = names && inArray(variables.name, listOf(names));
  return db
    .select(PUBLIC)
    .from(variables)
    .where(and(inScope(organizationId, scopeId), named));
}

/** Whether a reach holds these variables as they were read, and no others. */
export function isStill({ organizationId, scopeId, names }: Reach, rows: readonly VariableRow[]) {
  const states = rows.map(({ id, version }) => `${id}.${version}`).toSorted();
  const named = names ? sql`and known.name in ${listOf(names)}` : sql``;
  return sql`(select json_group_array(of_reach.state)
      from (select known.id || '.' || known.version as state from variables as known
        where known.organization_id = ${organizationId} and known.scope_id = ${scopeId} ${named}
        order by state) as of_reach) = ${JSON.stringify(states)}`;
}

/** Deletes these variables, if `allowed` holds. JSON carries lists: a statement takes 100 parameters. */
export function deleteVariables(db: Database, rows: readonly VariableRow[], allowed: SQL) {
  const ids = listOf(rows.map(({ id }) => id));
  return db.delete(variables).where(and(inArray(variables.id, ids), allowed));
}

/**
 * Inserts the variables whose IDs are new, and replaces the others. It goes by the ID and never by
 * the name, because a value opens in the row that it was sealed for and in no other. Only if
 * `allowed` holds; gives those written.
 */
export function upsertVariables(
  db: Database,
  scope: Scope,
  sealed: readonly SealedVariable[],
  allowed: SQL,
  now: number,
) {
  const field = (name: keyof SealedVariable) => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;
  return insertFrom(
    db,
    variables,
    {
      ...scope,
      id: field("id"),
      scopeId: scopeIdOf(scope),
      name: field("name"),
      storageMethod: field("storageMethod"),
      resourceId: field("resourceId"),
      value: field("value"),
      version: 1,
      createdAt: now,
      updatedAt: now,
    },
    sql`from json_each(${JSON.stringify(sealed)}) as item where ${allowed}`,
  )
    .onConflictDoUpdate({
      target: variables.id,
      set: {
        name: sql`excluded.name`,
        storageMethod: sql`excluded.storage_method`,
        value: sql`excluded.value`,
        version: sql`${variables.version} + 1`,
        updatedAt: sql`excluded.updated_at`,
      },
    })
    .returning({ id: variables.id });
}

const listOf = (texts: readonly string[]) =>
  sql`(select value from json_each(${JSON.stringify(texts)}))`;

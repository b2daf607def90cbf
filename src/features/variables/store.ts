import { and, eq, getTableColumns, inArray, notInArray, sql } from "drizzle-orm";
import type { Actor } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { keyset, type PageRequest } from "../../db/keyset.ts";
import { projectMembers } from "../../db/schema.ts";
import { isRoleOf, MEMBER_ROLE } from "../projects/index.ts";
import { type Scope, scopeIdOf } from "./scope.ts";
import type { StorageMethod } from "./storage-methods.ts";
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

/**
 * The IDs of the variables of these names. JSON carries lists: a statement takes 100 parameters.
 */
export function findIdsByName(
  db: Database,
  organizationId: string,
  scopeId: string,
  names: readonly string[],
) {
  return db
    .select({ id: variables.id, name: variables.name })
    .from(variables)
    .where(and(inScope(organizationId, scopeId), inArray(variables.name, listOf(names))));
}

/** Deletes the variables of a scope save these. */
export function deleteOtherVariables(
  db: Database,
  organizationId: string,
  scopeId: string,
  keep: readonly string[],
) {
  return db
    .delete(variables)
    .where(and(inScope(organizationId, scopeId), notInArray(variables.id, listOf(keep))));
}

/**
 * Inserts the variables whose IDs are new, and replaces the others. It goes by the ID and never by
 * the name, because a value opens in the row that it was sealed for and in no other.
 */
export function upsertVariables(
  db: Database,
  scope: Scope,
  sealed: readonly SealedVariable[],
  now: number,
) {
  const { organizationId, projectId, environmentId, componentId } = scope;
  const field = (name: keyof SealedVariable) => sql`item.value ->> ${sql.raw(`'$.${name}'`)}`;
  return db
    .insert(variables)
    .select(
      sql`select ${field("id")}, ${organizationId}, ${projectId}, ${environmentId}, ${componentId},
        ${scopeIdOf(scope)}, ${field("name")}, ${field("storageMethod")}, ${field("resourceId")},
        ${field("value")}, 1, ${now}, ${now}
        from json_each(${JSON.stringify(sealed)}) as item where true`,
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
    });
}

const listOf = (texts: readonly string[]) =>
  sql`(select value from json_each(${JSON.stringify(texts)}))`;

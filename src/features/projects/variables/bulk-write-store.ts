import { and, inArray, type SQL, sql } from "drizzle-orm";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { listOf } from "../../../db/list-of.ts";
import { type Scope, type StorageMethod, scopeIdOf } from "./model.ts";
import { inScope, type VariableRow } from "./store.ts";
import { variables } from "./table.ts";

/** The variables that a bulk write may change: those with these names, or all of the scope. */
export interface Selection {
  organizationId: string;
  scopeId: string;
  names: readonly string[] | undefined;
}

export interface SealedVariable {
  id: string;
  name: string;
  storageMethod: StorageMethod;
  resourceId: string;
  /** Sealed for the row of this ID. */
  value: string;
}

export function listSelected(db: Database, { organizationId, scopeId, names }: Selection) {
  const hasName = names && inArray(variables.name, listOf(names));
  return db
    .select()
    .from(variables)
    .where(and(inScope(organizationId, scopeId), hasName));
}

/** Whether the selection consists of exactly these variables, in the versions that were read. */
function isUnchanged(
  { organizationId, scopeId, names }: Selection,
  rows: readonly VariableRow[],
): SQL {
  const states = rows.map(({ id, version }) => `${id}.${version}`).toSorted();
  const hasName = names ? sql`and variables.name in ${listOf(names)}` : sql``;
  return sql`(select json_group_array(selected.state)
      from (select variables.id || '.' || variables.version as state from variables
        where variables.organization_id = ${organizationId}
          and variables.scope_id = ${scopeId} ${hasName}
        order by state) as selected) = ${JSON.stringify(states)}`;
}

function deleteVariables(db: Database, rows: readonly VariableRow[], allowed: SQL) {
  const ids = listOf(rows.map(({ id }) => id));
  return db
    .delete(variables)
    .where(and(inArray(variables.id, ids), allowed))
    .returning({ id: variables.id });
}

interface BulkChange {
  scope: Scope;
  selection: Selection;
  /** The selection as it was read. */
  existing: readonly VariableRow[];
  removed: readonly VariableRow[];
  sealed: readonly SealedVariable[];
  now: number;
}

/** Deletes and writes variables if the selection is unchanged. Without a guarded statement, there are none. */
export function changeVariables(
  db: Database,
  { scope, selection, existing, removed, sealed, now }: BulkChange,
) {
  const allowed = isUnchanged(selection, existing);
  const deleted = removed.length > 0 ? deleteVariables(db, removed, allowed) : undefined;
  const upsert = (condition: SQL) =>
    sealed.length > 0 ? upsertVariables(db, scope, sealed, condition, now) : undefined;
  const upserted = deleted ? after(deleted, upsert) : upsert(allowed);
  return { guarded: deleted ?? upserted, upserted: deleted && upserted };
}

/**
 * Writes nothing unless `allowed` holds. The conflict target is the ID, not the name, because a value
 * opens only in the row that it was sealed for.
 */
function upsertVariables(
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

import type { ServiceContext } from "../../context.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { authorize } from "../projects/index.ts";
import { placeOf } from "./place.ts";
import { resourceIdOf, type Scope, type ScopeReference, scopeIdOf } from "./scope.ts";
import { findScope, refuseTaken, toScope, type VariableInput } from "./service.ts";
import type { SealedVariable, VariableRow } from "./store.ts";
import * as store from "./store.ts";

const TRIES = 3;
const SHOWN: PageRequest = { limit: 240, direction: "desc", after: undefined };

export interface BulkInput {
  /** Whether variables that are not named stay, or go. */
  mode: "merge" | "replace";
  variables: readonly VariableInput[];
}

/**
 * Writes many variables at once, all or none, and gives what stands after. Values are sealed for
 * the rows that have their names now; if somebody takes one of the names meanwhile, a unique index
 * refuses the whole batch, and it is made again for the rows of then.
 */
export async function putVariables(
  ctx: ServiceContext,
  reference: ScopeReference,
  input: BulkInput,
): Promise<Page<VariableRow>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await putOnce(ctx, reference, input);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === TRIES) throw error;
    }
  }
}

async function putOnce(
  ctx: ServiceContext,
  reference: ScopeReference,
  { mode, variables }: BulkInput,
): Promise<Page<VariableRow>> {
  const { db, actor } = ctx;
  const names = variables.map(({ name }) => name);
  const [[found], known] = await db.batch([
    findScope(ctx, reference),
    store.findIdsByName(db, actor.organizationId, reference.id, names),
  ]);
  const scope = toScope(reference, authorize(actor, reference.kind, found, "contributor"));
  const ids = new Map(known.map(({ name, id }) => [name, id]));
  const sealed = await sealAll(ctx, scope, variables, ids);
  const { organizationId } = scope;
  const scopeId = scopeIdOf(scope);
  const upsert = store.upsertVariables(db, scope, sealed, ctx.clock.now());
  const list = store.listVariables(db, organizationId, scopeId, SHOWN);
  const kept = sealed.map(({ id }) => id);
  const clear = store.deleteOtherVariables(db, organizationId, scopeId, kept);
  const stands =
    mode === "replace"
      ? db.batch([clear, upsert, list]).then(([, , rows]) => rows)
      : db.batch([upsert, list]).then(([, rows]) => rows);
  return toPage(SHOWN, await refuseTaken(stands), (row) => row);
}

async function sealAll(
  ctx: ServiceContext,
  scope: Scope,
  variables: readonly VariableInput[],
  ids: ReadonlyMap<string, string>,
): Promise<SealedVariable[]> {
  const cipher = await ctx.cipher();
  const seal = async ({ name, storageMethod, value }: VariableInput) => {
    const id = ids.get(name) ?? newId(ctx.clock);
    return {
      id,
      name,
      storageMethod,
      resourceId: resourceIdOf(scope, name),
      value: await cipher.seal(value, placeOf(scope.organizationId, id)),
    };
  };
  return Promise.all(variables.map(seal));
}

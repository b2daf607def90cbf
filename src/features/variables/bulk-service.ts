import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { insertEntries, toEntries, writeChangelogEvent } from "../changelog/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { boundsOf, bytesOverStored } from "./bounds-store.ts";
import type { VariableInput } from "./model.ts";
import { valueContext } from "./model.ts";
import type { Scope, ScopeReference } from "./scope.ts";
import { changes, findScope, newVariable, refuseTaken, toScope } from "./service.ts";
import type { SealedVariable, VariableRow } from "./store.ts";
import * as store from "./store.ts";

const TRIES = 5;
const SHOWN: PageRequest = { limit: 240, direction: "desc", after: undefined };

export interface BulkInput {
  /** Whether variables that are not named stay, or go. */
  mode: "merge" | "replace";
  variables: readonly VariableInput[];
}

/**
 * Writes many variables at once, all or none, and gives what stands after. Values are sealed for
 * the rows that have their names now, and the changelog tells of the rows as they are now; if
 * somebody changes them meanwhile, nothing is written, and it is all made again for the rows of
 * then.
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
  const { organizationId } = actor;
  const names = mode === "merge" ? variables.map(({ name }) => name) : undefined;
  const reach = { organizationId, scopeId: reference.id, names };
  const [[found], known] = await db.batch([findScope(ctx, reference), store.listReach(db, reach)]);
  const scope = toScope(reference, authorize(actor, reference.kind, found, "contributor"));
  const now = ctx.clock.now();
  const { kept, removed, written } = planPut(ctx, scope, known, variables, now);
  const sealed = await sealAll(ctx, written);
  const removals = toEntries(ctx, removed.map(changes.deleted));
  const writes = toEntries(
    ctx,
    written.map(({ before, after }) =>
      before ? changes.updated(before, after) : changes.created(after),
    ),
  );
  const limits = limitPut(ctx, scope, { kept, removed, written, sealed });
  const results = await limits.enforce(
    refuseTaken(
      commit(ctx, {
        limits: limits.statement,
        deleted: store.deleteVariables(db, removed, store.isStill(reach, known)),
        deletions: insertEntries(ctx, organizationId, removals),
        upserted: store.upsertVariables(db, scope, sealed, store.isStill(reach, kept), now),
        writes: insertEntries(ctx, organizationId, writes),
        event: writeChangelogEvent(ctx, [...removals, ...writes]),
        rows: store.listVariables(db, organizationId, reference.id, SHOWN),
      }),
    ),
  );
  const { upserted, rows } = results;
  const isComplete = mode === "merge" || rows.length === sealed.length;
  if (isComplete && upserted.length === sealed.length) return toPage(SHOWN, rows, (row) => row);
  throw new Conflict("Somebody else is changing the same variables. Retry.");
}

/** The limits of a request that writes some variables and removes others. */
function limitPut(
  ctx: ServiceContext,
  { organizationId, environmentId }: Scope,
  { kept, removed, written, sealed }: ReturnType<typeof planPut> & { sealed: SealedVariable[] },
) {
  const removedIds = removed.map(({ id }) => id);
  const replacedIds = [...removedIds, ...kept.map(({ id }) => id)];
  const bytes = bytesOf(...sealed.flatMap(({ name, value }) => [name, value]));
  return limitGrowth(ctx, {
    organizationId,
    records: { variables: written.length - replacedIds.length },
    bytes: bytesOverStored(replacedIds, bytes),
    bounds: boundsOf(
      environmentId,
      written.map(({ after, value }) => ({ id: after.id, value })),
      removedIds,
    ),
  });
}

/** A variable that a request writes, as it was, if it was, and as it is to be. */
interface Written {
  before: VariableRow | undefined;
  after: VariableRow;
  /** Plain text. */
  value: string;
}

/** What becomes of the variables that a request reaches: those that it does not name are removed. */
function planPut(
  { clock }: ServiceContext,
  scope: Scope,
  known: readonly VariableRow[],
  variables: readonly VariableInput[],
  now: number,
) {
  const byName = new Map(known.map((row) => [row.name, row]));
  const written = variables.map(({ value, ...shown }): Written => {
    const before = byName.get(shown.name);
    const after = before
      ? { ...before, ...shown, version: before.version + 1, updatedAt: now }
      : newVariable(scope, { id: newId(clock), ...shown }, now);
    return { before, after, value };
  });
  const kept = written.flatMap(({ before }) => before ?? []);
  const removed = known.filter((row) => !kept.includes(row));
  return { kept, removed, written };
}

async function sealAll(
  ctx: ServiceContext,
  written: readonly Written[],
): Promise<SealedVariable[]> {
  const cipher = await ctx.cipher();
  const seal = async ({ after, value }: Written) => ({
    id: after.id,
    name: after.name,
    storageMethod: after.storageMethod,
    resourceId: after.resourceId,
    value: await cipher.seal(value, valueContext(after.organizationId, after.id)),
  });
  return Promise.all(written.map(seal));
}

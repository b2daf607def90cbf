import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { insertEntries, toEntries, writeChangelogEvent } from "../changelog/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import type { SealedVariable } from "./bulk-write-store.ts";
import * as store from "./bulk-write-store.ts";
import { type Scope, type ScopeReference, type VariableInput, valueContext } from "./model.ts";
import { changes, findScope, newVariable, refuseTaken, toScope } from "./service.ts";
import { addedBytes, listVariables, type VariableRow, variableBounds } from "./store.ts";

const MAX_ATTEMPTS = 5;
const FIRST_PAGE: PageRequest = { limit: 240, direction: "desc", after: undefined };

export interface BulkInput {
  /** `replace` deletes the variables that the request does not name. */
  mode: "merge" | "replace";
  variables: readonly VariableInput[];
}

/**
 * Optimistic concurrency: values are sealed for the rows as read. If another request changes these
 * rows before the write, nothing is written and the operation is repeated.
 */
export async function putVariables(
  ctx: ServiceContext,
  reference: ScopeReference,
  input: BulkInput,
): Promise<Page<VariableRow>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryPut(ctx, reference, input);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function tryPut(
  ctx: ServiceContext,
  reference: ScopeReference,
  { mode, variables }: BulkInput,
): Promise<Page<VariableRow>> {
  const { db, actor } = ctx;
  const { organizationId } = actor;
  const names = mode === "merge" ? variables.map(({ name }) => name) : undefined;
  const selection = { organizationId, scopeId: reference.id, names };
  const [[row], existing] = await db.batch([
    findScope(ctx, reference),
    store.listSelected(db, selection),
  ]);
  const scope = toScope(reference, authorize(actor, reference.kind, row, "contributor"));
  const now = ctx.clock.now();
  const plan = planPut(ctx, scope, existing, variables, now);
  const { replaced, removed, written } = plan;
  const sealed = await sealAll(ctx, written);
  const removals = toEntries(ctx, removed.map(changes.deleted));
  const writes = toEntries(ctx, written.map(changeOf));
  const limits = limitPut(ctx, scope, plan, sealed);
  const results = await limits.enforce(
    refuseTaken(
      commit(ctx, {
        limits: limits.statement,
        deleted: store.deleteVariables(db, removed, store.isUnchanged(selection, existing)),
        deletions: insertEntries(ctx, organizationId, removals),
        upserted: store.upsertVariables(
          db,
          scope,
          sealed,
          store.isUnchanged(selection, replaced),
          now,
        ),
        writes: insertEntries(ctx, organizationId, writes),
        event: writeChangelogEvent(ctx, [...removals, ...writes]),
        rows: listVariables(db, organizationId, reference.id, FIRST_PAGE),
      }),
    ),
  );
  const { upserted, rows } = results;
  const isComplete = mode === "merge" || rows.length === sealed.length;
  if (isComplete && upserted.length === sealed.length) {
    return toPage(FIRST_PAGE, rows, (each) => each);
  }
  throw new Conflict("Another request is changing the same variables. Retry.");
}

function limitPut(
  ctx: ServiceContext,
  { organizationId, environmentId }: Scope,
  { replaced, removed, written }: Plan,
  sealed: readonly SealedVariable[],
) {
  const removedIds = removed.map(({ id }) => id);
  const previousIds = [...removedIds, ...replaced.map(({ id }) => id)];
  const bytes = bytesOf(...sealed.flatMap(({ name, value }) => [name, value]));
  return limitGrowth(ctx, {
    organizationId,
    records: { variables: written.length - previousIds.length },
    bytes: addedBytes(previousIds, bytes),
    bounds: variableBounds(
      environmentId,
      written.map(({ after, plainText }) => ({ id: after.id, plainText })),
      removedIds,
    ),
  });
}

interface Write {
  /** Undefined for a new variable. */
  before: VariableRow | undefined;
  after: VariableRow;
  plainText: string;
}

interface Plan {
  /** The existing variables that the request writes. */
  replaced: readonly VariableRow[];
  /** The existing variables that the request does not name. */
  removed: readonly VariableRow[];
  written: readonly Write[];
}

function planPut(
  { clock }: ServiceContext,
  scope: Scope,
  existing: readonly VariableRow[],
  variables: readonly VariableInput[],
  now: number,
): Plan {
  const byName = new Map(existing.map((row) => [row.name, row]));
  const written = variables.map(({ value: plainText, ...fields }): Write => {
    const before = byName.get(fields.name);
    const after = before
      ? { ...before, ...fields, version: before.version + 1, updatedAt: now }
      : newVariable(scope, { id: newId(clock), ...fields }, now);
    return { before, after, plainText };
  });
  const replaced = written.flatMap(({ before }) => before ?? []);
  const removed = existing.filter((row) => !replaced.includes(row));
  return { replaced, removed, written };
}

function changeOf({ before, after }: Write) {
  return before ? changes.updated(before, after) : changes.created(after);
}

async function sealAll(ctx: ServiceContext, written: readonly Write[]): Promise<SealedVariable[]> {
  const cipher = await ctx.cipher();
  const seal = async ({ after, plainText }: Write) => ({
    id: after.id,
    name: after.name,
    storageMethod: after.storageMethod,
    resourceId: after.resourceId,
    value: await cipher.seal(plainText, valueContext(after.organizationId, after.id)),
  });
  return Promise.all(written.map(seal));
}

import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { after, batch, type Statement } from "../../../db/batch.ts";
import { refuseTaken } from "../../../db/constraint-errors.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { Conflict } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  auditChanges,
  type Change,
  type Entry,
  insertEntries,
  toEntries,
  writeChangelogEvent,
} from "../../housekeeping/changelog/index.ts";
import { bytesOf, limitGrowth } from "../../housekeeping/usage/index.ts";
import type { SealedVariable, Selection } from "./bulk-write-store.ts";
import * as store from "./bulk-write-store.ts";
import {
  type Scope,
  type ScopeReference,
  VARIABLES_CHANGING,
  type VariableInput,
  valueContext,
} from "./model.ts";
import { changes, findScope, newVariable, TAKEN, toScope } from "./service.ts";
import { addedBytes, listVariables, type VariableRow, variableBounds } from "./store.ts";

export const MAXIMUM_TRIES = 5;
const FIRST_PAGE: NamedPageRequest = {
  limit: LIMITS.pageItems.value,
  direction: "desc",
  after: undefined,
  name: undefined,
};

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
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryPut(ctx, reference, input);
    } catch (error) {
      if (!(error instanceof Conflict) || tries === MAXIMUM_TRIES) throw error;
    }
  }
}

async function tryPut(
  ctx: ServiceContext,
  reference: ScopeReference,
  { mode, variables }: BulkInput,
): Promise<Page<VariableRow>> {
  const { db, actor } = ctx;
  const names = mode === "merge" ? variables.map(({ name }) => name) : undefined;
  const selection = { organizationId: actor.organizationId, scopeId: reference.id, names };
  const { found, existing } = await batch(db, {
    found: findScope(ctx, reference),
    existing: store.listSelected(db, selection),
  });
  const scope = toScope(reference, authorize(actor, reference.kind, found[0], "contributor"));
  const plan = planPut(ctx, scope, existing, variables);
  const sealed = await sealAll(ctx, plan.written);
  const limits = limitPut(ctx, scope, plan, sealed);
  const statements = {
    limits: limits.statement,
    ...writePlan(ctx, scope, selection, plan, sealed),
    rows: listVariables(db, actor.organizationId, reference.id, FIRST_PAGE),
  };
  const { upserted, rows } = await limits.enforce(refuseTaken(batch(ctx.db, statements), TAKEN));
  const isComplete = mode === "merge" || rows.length === sealed.length;
  if (isComplete && upserted.length === sealed.length) {
    return toPage(FIRST_PAGE, rows, (each) => each);
  }
  throw VARIABLES_CHANGING;
}

function writePlan(
  ctx: ServiceContext,
  scope: Scope,
  selection: Selection,
  { existing, replaced, removed, written, now }: Plan,
  sealed: readonly SealedVariable[],
) {
  const { db } = ctx;
  const isUnchanged = store.isUnchanged(selection, existing);
  const isUnchangedAfterDeletion = store.isUnchanged(selection, replaced);
  const { organizationId } = scope;
  const deletions = removed.map(changes.deleted);
  const writes = written.map(changeOf);
  const entries = { deletions: toEntries(ctx, deletions), writes: toEntries(ctx, writes) };
  const deleted = store.deleteVariables(db, removed, isUnchanged);
  const upserted = store.upsertVariables(db, scope, sealed, isUnchangedAfterDeletion, now);
  const audit = (written: Statement, changes: readonly Change[]) =>
    after(written, (hasChanged) => auditChanges(ctx, organizationId, changes, hasChanged));
  const insert = (written: Statement, inserted: readonly Entry[]) =>
    after(written, (condition) => insertEntries(ctx, organizationId, inserted, { condition }));
  return {
    deleted,
    deletionAudit: audit(deleted, deletions),
    deletionEntries: insert(deleted, entries.deletions),
    upserted,
    writeAudit: audit(upserted, writes),
    writeEntries: insert(upserted, entries.writes),
    event: writeChangelogEvent(ctx, [...entries.deletions, ...entries.writes]),
  };
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
  before: VariableRow | undefined;
  after: VariableRow;
  plainText: string;
}

interface Plan {
  existing: readonly VariableRow[];
  /** The existing variables that the request writes. */
  replaced: readonly VariableRow[];
  /** The existing variables that the request does not name. */
  removed: readonly VariableRow[];
  written: readonly Write[];
  now: number;
}

function planPut(
  { clock }: ServiceContext,
  scope: Scope,
  existing: readonly VariableRow[],
  variables: readonly VariableInput[],
): Plan {
  const now = clock.now();
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
  return { existing, replaced, removed, written, now };
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
    value: await cipher.seal(plainText, valueContext(after)),
  });
  return Promise.all(written.map(seal));
}

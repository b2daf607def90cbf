import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import type { Cipher } from "../../../lib/cipher.ts";
import { Conflict } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type AuditedAct, firstNames } from "../../housekeeping/audit/index.ts";
import type { Growth } from "../../housekeeping/usage/index.ts";
import { requireAccess } from "../access/index.ts";
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
import {
  addedBytes,
  listVariables,
  type SealedRow,
  type VariableRow,
  variableBounds,
} from "./store.ts";

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
  const { organizationId } = actor;
  const names = mode === "merge" ? variables.map(({ name }) => name) : undefined;
  const selection = { organizationId, scopeId: reference.id, names };
  const { found, existing } = await batch(db, {
    found: findScope(ctx, reference),
    existing: store.listSelected(db, selection),
  });
  const authorized = authorize(actor, reference.kind, found[0], "contributor");
  await requireAccess(ctx, authorized, "configure");
  const scope = toScope(reference, authorized);
  const plan = await planPut(ctx, scope, existing, variables);
  const target = { type: reference.kind, id: reference.id, name: authorized.name };
  const together = auditTogether(target, scope, plan);
  const rows = listVariables(db, organizationId, reference.id, FIRST_PAGE);
  const writing = await writePlan(ctx, scope, selection, plan);
  const done =
    writing && (await writeBatch(ctx, { ...writing, together, taken: TAKEN, reads: { rows } }));
  const page = done?.reads.rows ?? (await batch(db, { rows })).rows;
  const isDone = !done || done.guarded.length > 0;
  const isComplete = mode === "merge" || page.length === variables.length;
  if (isDone && isComplete) return toPage(FIRST_PAGE, page, (each) => each);
  throw VARIABLES_CHANGING;
}

/** Undefined if nothing is to be written. */
async function writePlan(ctx: ServiceContext, scope: Scope, selection: Selection, plan: Plan) {
  const { removed, written } = plan;
  const sealed = await sealAll(ctx, written);
  const { guarded, ...also } = store.changeVariables(ctx.db, { ...plan, scope, selection, sealed });
  if (!guarded) return undefined;
  const growth = growthOf(scope, plan, sealed);
  const all = [...removed.map(changes.deleted), ...written.map(changeOf)];
  return { growth, guarded, also, changes: all, unchanged: undefined };
}

function auditTogether(
  target: AuditedAct["target"],
  { projectId }: Scope,
  { removed, written }: Plan,
): AuditedAct {
  const namesOf = (isCreated: boolean) =>
    written.filter(({ before }) => !before === isCreated).map(({ after }) => after.name);
  const lists = {
    created: namesOf(true),
    updated: namesOf(false),
    deleted: removed.map(({ name }) => name),
  };
  return { action: "variables.written", target, projectId, changes: { after: firstNames(lists) } };
}

function growthOf(
  { organizationId, environmentId }: Scope,
  { removed, written }: Plan,
  sealed: readonly SealedVariable[],
): Growth {
  const removedIds = removed.map(({ id }) => id);
  const previousIds = [...removedIds, ...written.flatMap(({ before }) => before?.id ?? [])];
  const bytes = bytesOf(...sealed.flatMap(({ name, value }) => [name, value]));
  return {
    organizationId,
    records: { variables: written.length - previousIds.length },
    bytes: addedBytes(previousIds, bytes),
    bounds: variableBounds(
      environmentId,
      written.map(({ after, plainText }) => ({ id: after.id, plainText })),
      removedIds,
    ),
  };
}

interface Write {
  before: VariableRow | undefined;
  after: VariableRow;
  plainText: string;
}

interface Plan {
  existing: readonly VariableRow[];
  /** The existing variables that the request does not name. */
  removed: readonly VariableRow[];
  /** Without those that have the value and the storage method of the request. */
  written: readonly Write[];
  now: number;
}

async function planPut(
  { clock, cipher }: ServiceContext,
  scope: Scope,
  existing: readonly SealedRow[],
  variables: readonly VariableInput[],
): Promise<Plan> {
  const now = clock.now();
  const named = new Set(variables.map(({ name }) => name));
  const removed = existing.filter(({ name }) => !named.has(name));
  const byName = new Map(existing.map((row) => [row.name, row]));
  const opener = await cipher();
  const isSame = await Promise.all(
    variables.map((input) => hasValue(opener, byName.get(input.name), input)),
  );
  const changed = variables.filter((_, at) => !isSame[at]);
  const written = changed.map(({ value: plainText, ...fields }): Write => {
    const before = byName.get(fields.name);
    const after = before
      ? { ...before, ...fields, version: before.version + 1, updatedAt: now }
      : newVariable(scope, { id: newId(clock), ...fields }, now);
    return { before, after, plainText };
  });
  return { existing, removed, written, now };
}

async function hasValue(
  cipher: Cipher,
  row: SealedRow | undefined,
  { storageMethod, value }: VariableInput,
): Promise<boolean> {
  if (row?.storageMethod !== storageMethod) return false;
  // A value that does not open is replaced.
  const current = await cipher.open(row.value, valueContext(row)).catch(() => undefined);
  return current === value;
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

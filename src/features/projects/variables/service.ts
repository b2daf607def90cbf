import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { writeAudit } from "../../housekeeping/audit/index.ts";
import { changesOf } from "../../housekeeping/changelog/index.ts";
import { requireAccess } from "../access/index.ts";
import { findComponent } from "../components/index.ts";
import { findEnvironment } from "../environments/index.ts";
import {
  NAME_TAKEN,
  RESOURCE_ID_TAKEN,
  resourceIdOf,
  type Scope,
  type ScopeReference,
  scopeIdOf,
  type VariableInput,
  valueContext,
} from "./model.ts";
import { presentFields, presentVariable } from "./presenters.ts";
import type { FoundVariable, VariableRow } from "./store.ts";
import * as store from "./store.ts";

export const changes = changesOf("variable", (row: VariableRow) => row.projectId, presentFields);

/** The list of an environment excludes the variables of its components, and vice versa. */
export async function listVariables(
  ctx: ServiceContext,
  reference: ScopeReference,
  page: NamedPageRequest,
): Promise<Page<VariableRow>> {
  const { organizationId } = ctx.actor;
  const { scopes, rows } = await batch(ctx.db, {
    scopes: findScope(ctx, reference),
    rows: store.listVariables(ctx.db, organizationId, reference.id, page),
  });
  authorize(ctx.actor, reference.kind, scopes[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createVariable(
  ctx: ServiceContext,
  reference: ScopeReference,
  input: VariableInput,
): Promise<VariableRow> {
  const [row] = await findScope(ctx, reference);
  const authorized = authorize(ctx.actor, reference.kind, row, "contributor");
  await requireAccess(ctx, authorized, "configure");
  const scope = toScope(reference, authorized);
  const id = newId(ctx.clock);
  const { value: plainText, ...fields } = input;
  const value = await (await ctx.cipher()).seal(plainText, valueContext({ ...scope, id }));
  const variable = newVariable(scope, { id, ...fields }, ctx.clock.now());
  return write(ctx, {
    growth: {
      organizationId: scope.organizationId,
      records: { variables: 1 },
      bytes: bytesOf(input.name, value),
      bounds: store.variableBounds(scope.environmentId, [{ id, plainText }]),
    },
    guarded: store.insertVariable(ctx.db, { ...variable, value }),
    value: variable,
    changes: [changes.created(variable)],
    taken: TAKEN,
  });
}

export async function getVariable(ctx: ServiceContext, id: string): Promise<VariableRow> {
  return requireVariable(ctx, id, "viewer");
}

export async function replaceVariable(
  ctx: ServiceContext,
  id: string,
  input: VariableInput,
): Promise<VariableRow> {
  const before = await requireExpected(ctx, id);
  const { organizationId } = before;
  const { value: plainText, ...fields } = input;
  const value = await (await ctx.cipher()).seal(plainText, valueContext(before));
  const change = { ...fields, updatedAt: ctx.clock.now() };
  return write(ctx, {
    growth: {
      organizationId,
      bytes: store.addedBytes([id], bytesOf(input.name, value)),
      bounds: store.variableBounds(before.environmentId, [{ id, plainText }]),
    },
    guarded: store.replaceVariable(ctx, organizationId, id, { ...change, value }),
    // The version is a field of the record, so that this change is never none.
    changes: [changes.updated(before, { ...before, ...change, version: before.version + 1 })],
    unchanged: before,
    taken: TAKEN,
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("variable"),
  });
}

export async function deleteVariable(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireExpected(ctx, id);
  await write(ctx, {
    guarded: store.deleteVariable(ctx, before.organizationId, id),
    changes: [changes.deleted(before)],
    reread: () => requireExpected(ctx, id),
    otherwise: () => new NotFound("variable"),
  });
}

/**
 * Writes an audit entry in the batch that reads the value, so that the entry is committed before
 * the value can leave. The value opens only for the project that the role was checked in.
 */
export async function revealVariable(ctx: ServiceContext, id: string): Promise<string> {
  const variable = await requireVariable(ctx, id, "contributor");
  const { organizationId, projectId, name } = variable;
  const cipher = await ctx.cipher();
  const target = { type: "variable", id, name } as const;
  const act = { action: "variable.revealed", target, projectId } as const;
  const exists = store.whereVariableExists(organizationId, id);
  const { reads } = await writeBatch(ctx, {
    guarded: writeAudit(ctx, organizationId, [act], exists),
    reads: { values: store.findSealedValue(ctx.db, organizationId, id) },
  });
  const [sealed] = reads.values;
  if (!sealed) throw new NotFound("variable");
  return cipher.open(sealed.value, valueContext(variable));
}

export function findScope({ db, actor }: ServiceContext, { kind, id }: ScopeReference) {
  return kind === "component" ? findComponent(db, actor, id) : findEnvironment(db, actor, id);
}

export function toScope(
  { kind, id }: ScopeReference,
  row: { organizationId: string; projectId: string; environmentId: string },
): Scope {
  const { organizationId, projectId, environmentId } = row;
  return {
    organizationId,
    projectId,
    environmentId,
    componentId: kind === "component" ? id : null,
  };
}

export function newVariable(
  scope: Scope,
  fields: Pick<VariableRow, "id" | "name" | "storageMethod">,
  now: number,
): VariableRow {
  return {
    ...fields,
    ...scope,
    scopeId: scopeIdOf(scope),
    resourceId: resourceIdOf(scope, fields.name),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

/** The error of each unique index. */
export const TAKEN = {
  "variables.scope_id, variables.name": NAME_TAKEN,
  "variables.resource_id": RESOURCE_ID_TAKEN,
};

async function requireVariable(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<FoundVariable> {
  const [variable] = await store.findVariable(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "variable", variable, needed);
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext, id: string): Promise<VariableRow> {
  const variable = await requireVariable(ctx, id, "contributor");
  await requireAccess(ctx, variable, "configure");
  await requireExpectedVersion(ctx, variable.version, () => presentVariable(variable));
  return variable;
}

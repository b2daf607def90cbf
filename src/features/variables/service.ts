import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { mapUniqueViolation } from "../../db/constraint-errors.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { insertAuditRecord } from "../audit/index.ts";
import { changeRecorder, commitChange } from "../changelog/index.ts";
import { findComponent } from "../components/index.ts";
import { findEnvironment } from "../environments/index.ts";
import { bytesOf, limitGrowth } from "../usage/index.ts";
import { boundsOf, bytesOverStored } from "./bounds-store.ts";
import type { VariableInput } from "./model.ts";
import { valueContext } from "./place.ts";
import { presentVariable } from "./presenters.ts";
import { resourceIdOf, type Scope, type ScopeReference, scopeIdOf } from "./scope.ts";
import type { VariableRow } from "./store.ts";
import * as store from "./store.ts";

export const changes = changeRecorder(
  "variable",
  (row: VariableRow) => row.projectId,
  presentVariable,
);

/** Lists a component's own variables, or an environment's own: never those of the other. */
export async function listVariables(
  ctx: ServiceContext,
  reference: ScopeReference,
  page: PageRequest,
): Promise<Page<VariableRow>> {
  const { organizationId } = ctx.actor;
  const [[scope], found] = await ctx.db.batch([
    findScope(ctx, reference),
    store.listVariables(ctx.db, organizationId, reference.id, page),
  ]);
  authorize(ctx.actor, reference.kind, scope, "viewer");
  return toPage(page, found, (row) => row);
}

/** Makes a variable; takes a contributor. Throws `Conflict` for a name that is taken. */
export async function createVariable(
  ctx: ServiceContext,
  reference: ScopeReference,
  input: VariableInput,
): Promise<VariableRow> {
  const [found] = await findScope(ctx, reference);
  const scope = toScope(reference, authorize(ctx.actor, reference.kind, found, "contributor"));
  const id = newId(ctx.clock);
  const { value: plain, ...shown } = input;
  const value = await (await ctx.cipher()).seal(plain, valueContext(scope.organizationId, id));
  const variable = newVariable(scope, { id, ...shown }, ctx.clock.now());
  const limits = limitGrowth(ctx, {
    organizationId: scope.organizationId,
    records: { variables: 1 },
    bytes: bytesOf(input.name, value),
    bounds: boundsOf(scope.environmentId, [{ id, value: plain }]),
  });
  const statements = {
    limits: limits.statement,
    created: store.insertVariable(ctx.db, { ...variable, value }),
  };
  await limits.enforce(refuseTaken(commitChange(ctx, statements, changes.created(variable))));
  return variable;
}

/** One variable, without its value; takes a viewer. */
export async function getVariable(ctx: ServiceContext, id: string): Promise<VariableRow> {
  return requireVariable(ctx, id, "viewer");
}

/**
 * Replaces a variable, whose version rises; takes a contributor. Throws `Conflict` for a name that
 * is taken.
 */
export async function replaceVariable(
  ctx: ServiceContext,
  id: string,
  input: VariableInput,
): Promise<VariableRow> {
  const before = await requireVariable(ctx, id, "contributor");
  const { organizationId } = before;
  const { value: plain, ...shown } = input;
  const value = await (await ctx.cipher()).seal(plain, valueContext(organizationId, id));
  const change = { ...shown, updatedAt: ctx.clock.now() };
  const replaced = store.replaceVariable(ctx.db, organizationId, id, { ...change, value });
  const after = { ...before, ...change, version: before.version + 1 };
  const limits = limitGrowth(ctx, {
    organizationId,
    bytes: bytesOverStored([id], bytesOf(input.name, value)),
    bounds: boundsOf(before.environmentId, [{ id, value: plain }]),
  });
  const statements = { limits: limits.statement, replaced };
  const results = await limits.enforce(
    refuseTaken(commitChange(ctx, statements, changes.updated(before, after))),
  );
  const [variable] = results?.replaced ?? [];
  if (!variable) throw new NotFound("variable");
  return variable;
}

/** Deletes a variable; takes a contributor. */
export async function deleteVariable(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireVariable(ctx, id, "contributor");
  const statements = { deleted: store.deleteVariable(ctx.db, before.organizationId, id) };
  const { deleted } = await commitChange(ctx, statements, changes.deleted(before));
  if (deleted.length === 0) throw new NotFound("variable");
}

/** Decrypts a variable's value. Who reads which, and when, goes on record in the same batch. */
export async function revealVariable(ctx: ServiceContext, id: string): Promise<string> {
  const { organizationId, projectId } = await requireVariable(ctx, id, "contributor");
  const { found } = await runBatch(ctx.db, {
    found: store.findSealedValue(ctx.db, organizationId, id),
    audit: insertAuditRecord(ctx, { action: "variable.revealed", projectId, recordId: id }),
  });
  const [sealed] = found;
  if (!sealed) throw new NotFound("variable");
  return (await ctx.cipher()).open(sealed.value, valueContext(organizationId, id));
}

/** Finds what variables belong to, with the actor's role in its project. */
export function findScope({ db, actor }: ServiceContext, { kind, id }: ScopeReference) {
  return kind === "component" ? findComponent(db, actor, id) : findEnvironment(db, actor, id);
}

/** The scope of what `findScope` found. */
export function toScope(
  { kind, id }: ScopeReference,
  found: { organizationId: string; projectId: string; environmentId?: string },
): Scope {
  const { organizationId, projectId, environmentId = id } = found;
  return {
    organizationId,
    projectId,
    environmentId,
    componentId: kind === "component" ? id : null,
  };
}

/** A variable as it is made. */
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

/** Puts what a unique index refuses into words. */
export function refuseTaken<Result>(write: PromiseLike<Result>): Promise<Result> {
  const name = mapUniqueViolation(
    write,
    ["variables.scope_id", "variables.name"],
    () => new Conflict("There is a variable of this name. Replace it, or choose another name."),
  );
  return mapUniqueViolation(
    name,
    ["variables.resource_id"],
    () =>
      new Conflict(
        "A variable that once had this name still holds its resource_id. Delete it, or choose " +
          "another name.",
      ),
  );
}

async function requireVariable(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<VariableRow> {
  const [found] = await store.findVariable(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "variable", found, needed);
}

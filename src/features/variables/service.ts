import type { ServiceContext } from "../../context.ts";
import { orIfTaken } from "../../db/failures.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import type { ProjectRole } from "../../lib/roles.ts";
import { insertAuditRecord } from "../audit/index.ts";
import { findComponent } from "../components/index.ts";
import { findEnvironment } from "../environments/index.ts";
import { authorize } from "../projects/index.ts";
import { placeOf } from "./place.ts";
import { resourceIdOf, type Scope, type ScopeReference, scopeIdOf } from "./scope.ts";
import type { StorageMethod } from "./storage-methods.ts";
import type { VariableRow } from "./store.ts";
import * as store from "./store.ts";

export interface VariableInput {
  name: string;
  storageMethod: StorageMethod;
  /** Plain text. */
  value: string;
}

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
  const now = ctx.clock.now();
  const write = store.insertVariable(ctx.db, {
    id,
    ...scope,
    scopeId: scopeIdOf(scope),
    ...input,
    value: await (await ctx.cipher()).seal(input.value, placeOf(scope.organizationId, id)),
    resourceId: resourceIdOf(scope, input.name),
    version: 1,
    createdAt: now,
    updatedAt: now,
  });
  const [created] = await refuseTaken(write);
  if (!created) throw new Error("The inserted variable did not come back");
  return created;
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
  const { organizationId } = await requireVariable(ctx, id, "contributor");
  const value = await (await ctx.cipher()).seal(input.value, placeOf(organizationId, id));
  const change = { ...input, value, updatedAt: ctx.clock.now() };
  const [replaced] = await refuseTaken(store.replaceVariable(ctx.db, organizationId, id, change));
  if (!replaced) throw new NotFound("variable");
  return replaced;
}

/** Deletes a variable; takes a contributor. */
export async function deleteVariable(ctx: ServiceContext, id: string): Promise<void> {
  const { organizationId } = await requireVariable(ctx, id, "contributor");
  await store.deleteVariable(ctx.db, organizationId, id);
}

/** Decrypts a variable's value. Who reads which, and when, goes on record in the same batch. */
export async function revealVariable(ctx: ServiceContext, id: string): Promise<string> {
  const { organizationId, projectId } = await requireVariable(ctx, id, "contributor");
  const [[sealed]] = await ctx.db.batch([
    store.findSealedValue(ctx.db, organizationId, id),
    insertAuditRecord(ctx, { action: "variable.revealed", projectId, recordId: id }),
  ]);
  if (!sealed) throw new NotFound("variable");
  return (await ctx.cipher()).open(sealed.value, placeOf(organizationId, id));
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

/** Puts what a unique index refuses into words. */
export function refuseTaken<Result>(write: PromiseLike<Result>): Promise<Result> {
  const name = orIfTaken(
    write,
    ["variables.scope_id", "variables.name"],
    () => new Conflict("There is a variable of this name. Replace it, or choose another name."),
  );
  return orIfTaken(
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

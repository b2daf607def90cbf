import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import type { Cipher } from "../../../lib/cipher.ts";
import { NotFound } from "../../../lib/errors.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { auditRead } from "../../housekeeping/audit/index.ts";
import { type Scope, type ScopeReference, valueContext } from "./model.ts";
import { findScope, toScope } from "./service.ts";
import * as store from "./store.ts";

export async function openValues<Row extends Scope & { id: string; value: string }>(
  cipher: Cipher,
  sealed: readonly Row[],
): Promise<Row[]> {
  const open = async (row: Row) => ({
    ...row,
    value: await cipher.open(row.value, valueContext(row)),
  });
  return Promise.all(sealed.map(open));
}

/**
 * Writes one audit entry, with the names, in the batch that reads the values. The values open only
 * for the scope that the role was checked in. A scope without variables has an entry, too.
 */
export async function revealVariables(
  ctx: ServiceContext,
  reference: ScopeReference,
): Promise<store.SealedRow[]> {
  const [row] = await findScope(ctx, reference);
  const authorized = authorize(ctx.actor, reference.kind, row, "contributor");
  const scope = toScope(reference, authorized);
  const { organizationId, projectId } = scope;
  const cipher = await ctx.cipher();
  const target = { type: reference.kind, id: reference.id, name: authorized.name };
  const act = { action: "variables.revealed", target, projectId } as const;
  const { guarded, reads } = await writeBatch(ctx, {
    guarded: auditRead(ctx, organizationId, act, {
      changes: store.readNames(organizationId, reference.id),
      condition: store.whereScopeExists(organizationId, reference),
    }),
    reads: { sealed: store.listSealedValues(ctx.db, organizationId, reference.id) },
  });
  if (guarded.length === 0) throw new NotFound(reference.kind);
  return openValues(
    cipher,
    reads.sealed.map((each) => ({ ...each, ...scope })),
  );
}

import { requireOrgRole } from "../../../actor.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { isLimitViolation } from "../../../db/constraint-errors.ts";
import { isDatabaseFull } from "../../../lib/database-size.ts";
import { Conflict, LimitReached } from "../../../lib/errors.ts";
import { DATABASE, type Growth } from "./growth.ts";
import type { Usage } from "./store.ts";
import * as store from "./store.ts";

const DATABASE_FULL = new Conflict(
  "The database of the service is full: nothing can be added. Delete what is not needed, or ask the " +
    "operator of the service.",
);

/**
 * Checks the limits of a write that creates or enlarges resources. `statement` comes before the write
 * in its batch; `enforce` awaits that batch.
 */
export function limitGrowth(ctx: SystemContext, growth: Growth) {
  return {
    statement: store.checkLimits(ctx, growth),
    /** Throws a `Conflict` that names the limit if the batch exceeds one. */
    async enforce<Result>(batch: PromiseLike<Result>): Promise<Result> {
      try {
        return await batch;
      } catch (error) {
        if (!isLimitViolation(error)) throw error;
        throw describe(await store.findExceeded(ctx, growth));
      }
    },
  };
}

/** For a preview: throws as the write would throw for its bytes. */
export function requireStorage(storage: readonly Storage[], added: number): void {
  const exceeded = storage.find(({ used, allowed }) => used + added > allowed);
  if (added > 0 && exceeded) throw describe(exceeded);
  if (added > 0 && isDatabaseFull()) throw DATABASE_FULL;
}

type Storage = Awaited<ReturnType<typeof store.listStorage>>[number];

export async function getUsage(ctx: ServiceContext, organizationId: string): Promise<Usage> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const found = await batch(ctx.db, store.selectUsage(ctx.db, organizationId));
  return {
    live: byKind(found.live),
    history: byKind(found.history),
    quotas: new Map(found.quotas.map(({ kind, allowed }) => [kind, allowed])),
  };
}

function byKind<Row extends { kind: unknown }>(rows: readonly Row[]): Map<Row["kind"], Row> {
  return new Map(rows.map((row) => [row.kind, row]));
}

function describe(exceeded: { what: string; allowed: number } | undefined): Conflict {
  if (!exceeded) return new Conflict("The request exceeded a limit a moment ago. Retry.");
  if (exceeded.what === DATABASE) return DATABASE_FULL;
  return new LimitReached(exceeded.allowed, exceeded.what);
}

import { requireOrgRole, type ServiceContext, type SystemContext } from "../../context.ts";
import { isLimitViolation } from "../../db/constraint-errors.ts";
import { Conflict } from "../../lib/errors.ts";
import type { UsageByKind } from "./model.ts";
import type { Growth } from "./store.ts";
import * as store from "./store.ts";

/**
 * The check of a write that creates something or makes it larger. Its statement goes into the
 * batch, before the write; `enforce` names the limit if the batch fails because of it.
 */
export function limitGrowth(ctx: SystemContext, growth: Growth) {
  return {
    statement: store.checkLimits(ctx.db, growth),
    /** The result of the batch. Throws `Conflict` if it would exceed a limit. */
    async enforce<Result>(batch: PromiseLike<Result>): Promise<Result> {
      try {
        return await batch;
      } catch (error) {
        if (!isLimitViolation(error)) throw error;
        throw new Conflict(describe(await store.findExceeded(ctx.db, growth)));
      }
    },
  };
}

/** UTF-8 bytes of the texts that a record stores. */
export function bytesOf(...texts: readonly (string | null | undefined)[]): number {
  const encoder = new TextEncoder();
  return texts.reduce((sum, text) => sum + encoder.encode(text ?? "").byteLength, 0);
}

/** What an organization stores, by kind; takes an admin. A kind without records may be absent. */
export async function getUsage(ctx: ServiceContext, organizationId: string): Promise<UsageByKind> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const rows = await store.listUsage(ctx.db, organizationId);
  return new Map(rows.map(({ kind, records, bytes }) => [kind, { records, bytes }]));
}

function describe(exceeded: { what: string; allowed: number } | undefined): string {
  if (!exceeded) return "A limit was reached a moment ago. Retry.";
  const { what, allowed } = exceeded;
  return `The limit of ${allowed} ${what} is reached. Delete some first, or send less.`;
}

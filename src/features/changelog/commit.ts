import type { ServiceContext, SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import type { Change } from "./diff.ts";
import { recordChanges } from "./record.ts";

type Statement = Parameters<Database["batch"]>[0][number];
/** What a batch of these gives. */
type Results<Statements extends readonly Statement[]> = {
  [At in keyof Statements]: Statements[At]["_"]["result"];
};

/**
 * Writes a batch, all of it or nothing, and then rings for the deliveries in it: those that a
 * statement returns as `deliveryId`. A ring that is lost is made up for by the sweep.
 */
export async function commit<const Statements extends readonly [Statement, ...Statement[]]>(
  ctx: SystemContext,
  statements: Statements,
) {
  const results = await ctx.db.batch(statements);
  const written = (results as readonly unknown[]).flatMap((rows) =>
    Array.isArray(rows) ? rows.filter(isDelivery) : [],
  );
  if (written.length > 0) ctx.enqueue(written.map(({ deliveryId }) => deliveryId));
  return results;
}

/**
 * Commits what the actor does, the last of the statements changing the record, together with what
 * the changelog says of it. Gives the results of the statements.
 */
export async function commitChange<const Statements extends readonly [Statement, ...Statement[]]>(
  ctx: ServiceContext,
  statements: Statements,
  ...changes: readonly Change[]
): Promise<Results<Statements>> {
  const record = recordChanges(ctx, ctx.actor.organizationId, changes);
  const results: readonly unknown[] = await commit(ctx, [...statements, ...record]);
  return results.slice(0, statements.length) as unknown as Results<Statements>;
}

function isDelivery(row: unknown): row is { deliveryId: string } {
  return typeof row === "object" && row !== null && "deliveryId" in row;
}

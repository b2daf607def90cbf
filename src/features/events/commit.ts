import type { SystemContext } from "../../context.ts";
import type { Database } from "../../db/client.ts";

type Statement = Parameters<Database["batch"]>[0][number];

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
  if (written.length > 0) ctx.ring(written.map(({ deliveryId }) => deliveryId));
  return results;
}

function isDelivery(row: unknown): row is { deliveryId: string } {
  return typeof row === "object" && row !== null && "deliveryId" in row;
}

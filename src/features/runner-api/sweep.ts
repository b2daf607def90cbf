import type { SystemContext } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import { finalize, sweep } from "../deployments/index.ts";

/** What the schedule does each minute, in every environment: ends what nobody ends. */
export async function sweepEverything(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now();
  await commit(ctx, {
    expired: sweep(ctx.db, "everything", now),
    finalized: finalize(ctx, "everything", now),
  });
}

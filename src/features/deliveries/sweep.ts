import type { SystemContext } from "../../context.ts";
import { commit } from "../events/index.ts";
import { takeUpOverdue } from "./rescue-store.ts";

/** So many a run: ten calls of the queue, and no more than one invocation may hold. */
const LIMIT = 1_000;
/** What was rung for has so long before it is again. */
const NEXT_MS = 5 * 60_000;

/** Rings for the deliveries that the queue has forgotten, or was never told of. */
export async function sweepDeliveries(ctx: SystemContext): Promise<void> {
  const options = { limit: LIMIT, nextMs: NEXT_MS };
  await commit(ctx, [takeUpOverdue(ctx.db, ctx.clock.now(), options)]);
}

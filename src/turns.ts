import type { SystemContext } from "./context.ts";
import { describeError } from "./lib/log.ts";

type Step<Result> = (ctx: SystemContext, organizationId: string) => Promise<Result>;

/** One step of each organization in turn, until none has more to do: `step` tells. One that fails waits for the next run. */
export async function takeTurns(
  ctx: SystemContext,
  organizationIds: readonly string[],
  step: Step<boolean>,
): Promise<void> {
  let waiting = organizationIds;
  while (waiting.length > 0) {
    const unfinished: string[] = [];
    for (const id of waiting) if (await takeTurn(ctx, id, step)) unfinished.push(id);
    waiting = unfinished;
  }
}

/** What the schedule does for an organization, which pays for it. An error is logged: it ends no other's turn. */
export async function takeTurn<Result>(
  ctx: SystemContext,
  organizationId: string,
  step: Step<Result>,
): Promise<Result | undefined> {
  try {
    return await ctx.paidBy(organizationId, (own) => step(own, organizationId));
  } catch (error) {
    ctx.log("error", "sweep.failed", { organization_id: organizationId, ...describeError(error) });
    return undefined;
  }
}

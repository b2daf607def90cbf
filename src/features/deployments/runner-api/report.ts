import type { RunnerContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { applyReport, type Report, type ReportedResource } from "../deployments/index.ts";
import { directiveFor } from "./directive.ts";
import { AttemptConflict, STACK_ENDED } from "./errors.ts";
import { authenticateLease, type LeaseCredentials, requireRunning } from "./lease.ts";
import { checkOutputs, OUTPUTS_TOO_LARGE, type Output } from "./outputs.ts";
import type { ReportedProgress } from "./store.ts";
import * as store from "./store.ts";

export type ReportInput = Omit<Report, "resources" | "outputs"> & {
  outputs: readonly Output[];
  resources:
    | readonly (Omit<ReportedResource, "id" | "timestamp"> & { timestamp: number | undefined })[]
    | undefined;
};

const MAXIMUM_RESOURCES = LIMITS.reportedResources.value;
const TOO_MANY_RESOURCES = `The resources were not stored: a stack has at most ${MAXIMUM_RESOURCES} that are not deleted.`;

/**
 * Ignores a report that is not newer than the last one. Throws `Conflict` for a newer report if the
 * stack has ended.
 */
export async function reportStack(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
  input: ReportInput,
): Promise<ReportedProgress> {
  const key = await authenticateLease(ctx, credentials);
  const { db, clock } = ctx;
  if (input.status === "in_progress") await ctx.requireBudget();
  const now = clock.now();
  const resources = input.resources?.map((each) => ({
    ...each,
    id: newId(clock),
    timestamp: each.timestamp ?? now,
  }));
  const { outputs, warnings } = checkOutputs(input.outputs);
  const changed = input.isComplete ? undefined : resources;
  const results = await batch(db, {
    attempt: store.findAttempt(db, key),
    report: applyReport(db, key, { ...input, resources, outputs: JSON.stringify(outputs) }, now),
    stack: store.findReportedStack(db, key, input.stackId, changed),
  });
  const attempt = requireRunning(results.attempt[0], now);
  const [stack] = results.stack;
  if (!stack) throw new NotFound("stack in the deployment");
  const directive = directiveFor(attempt, now);
  if (stack.seq === input.seq) {
    ctx.logs.refreshFollowers(attempt.deploymentId);
    const isStored = input.status !== "succeeded" || stack.outputs === JSON.stringify(outputs);
    if (!isStored) warnings.push(OUTPUTS_TOO_LARGE);
    if (stack.liveResources > MAXIMUM_RESOURCES) warnings.push(TOO_MANY_RESOURCES);
  }
  if (stack.seq >= input.seq) return { directive, warnings };
  throw new AttemptConflict(STACK_ENDED, directive);
}

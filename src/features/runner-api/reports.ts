import type { RunnerContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { NotFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { auditDelivery } from "../audit/index.ts";
import { valueContext } from "../variables/index.ts";
import { type Directive, directiveFor } from "./directive.ts";
import { AttemptConflict } from "./errors.ts";
import type { Report, ReportedResource } from "./report-store.ts";
import { applyReport } from "./report-store.ts";
import { type LeaseClaim, requireLease, requireRunning } from "./service.ts";
import * as store from "./store.ts";
import { type DeliveredVariable, leaseIsLive, listSealedVariables } from "./variables.ts";

/** A report before its new resources have IDs. */
export type ReportInput = Omit<Report, "resources"> & {
  resources:
    | readonly (Omit<ReportedResource, "id" | "timestamp"> & { timestamp: number | undefined })[]
    | undefined;
};

/**
 * Takes what the runner says of a stack. An older report, or the same again, changes nothing. Throws
 * `Conflict` for a newer one of a stack that has ended.
 */
export async function reportStack(
  ctx: RunnerContext,
  lease: LeaseClaim,
  input: ReportInput,
): Promise<Directive> {
  const reference = await requireLease(ctx, lease);
  const { db, clock } = ctx;
  const now = clock.now();
  const resources = input.resources?.map((each) => ({
    ...each,
    id: newId(clock),
    timestamp: each.timestamp ?? now,
  }));
  const results = await runBatch(db, {
    lease: store.findLease(db, reference),
    report: applyReport(db, reference, { ...input, resources }, now),
    stack: store.findStackOf(db, reference, input.stackId),
  });
  const [found] = results.lease;
  const [stack] = results.stack;
  const hold = requireRunning(found, now);
  if (!stack) throw new NotFound("stack in the deployment");
  const desired = directiveFor(hold, now);
  if (stack.seq >= input.seq) return desired;
  throw new AttemptConflict("The stack has ended: nothing follows.", desired);
}

/** The plain text of the environment's variables, while the lease is live. It goes on record. */
export async function deliverVariables(
  ctx: RunnerContext,
  lease: LeaseClaim,
): Promise<{ variables: DeliveredVariable[]; desired: Directive }> {
  const reference = await requireLease(ctx, lease);
  const { db, clock } = ctx;
  const now = clock.now();
  const live = leaseIsLive(reference, now);
  const results = await runBatch(db, {
    lease: store.findLease(db, reference),
    sealed: listSealedVariables(db, live, reference),
    audit: auditDelivery(ctx, reference.id, live),
  });
  const [found] = results.lease;
  const hold = requireRunning(found, now);
  const desired = directiveFor(hold, now);
  if (now >= (hold.leaseUntil ?? 0)) {
    throw new AttemptConflict("The lease has run out. Send a heartbeat first.", desired);
  }
  const cipher = await ctx.cipher();
  const variables = await Promise.all(
    results.sealed.map(async ({ id, organizationId, value, ...variable }) => ({
      ...variable,
      value: await cipher.open(value, valueContext(organizationId, id)),
    })),
  );
  return { variables, desired };
}

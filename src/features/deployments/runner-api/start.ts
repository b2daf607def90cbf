import type { RunnerContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { BadInput } from "../../../lib/errors.ts";
import { type ApproverVerifier, approverVerifier } from "../../../lib/settings.ts";
import { mayHaveNeeds } from "../../projects/environments/index.ts";
import { type Facts, findOpenConditions, heldUntil } from "../conditions/index.ts";
import {
  type AttemptKey,
  computeOwn,
  DEPLOYMENT_FAILURES,
  type Document,
  digestOfText,
  failPatch,
  finalize,
  listStacksOfEnvironment,
  orderStacks,
  type Rebase,
  rebase,
  refuseStart,
  reorderStacks,
  resolveRebase,
  type StackOfDeployment,
  startDeployment,
  storeResulting,
} from "../deployments/index.ts";
import { directiveFor } from "./directive.ts";
import {
  AttemptConflict,
  CONFIGURATION_CHANGING,
  LeaseLost,
  PatchConflict,
  StartRefused,
} from "./errors.ts";
import { findInput, type InputRow } from "./input-store.ts";
import { authenticateLease, type LeaseCredentials, requireLease } from "./lease.ts";
import { findStart, type StartedDeployment, type StartRow } from "./store.ts";

/** A try fails only if another request has changed the configuration, or what the rules depend on, in the meantime. */
export const MAXIMUM_REBASES = 10;

/**
 * Idempotent. Throws `PatchConflict` if the patch does not apply: the deployment has failed. Throws `StartRefused` if
 * a rule is not met: the attempt has ended.
 */
export async function startAttempt(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
): Promise<StartedDeployment> {
  const key = await authenticateLease(ctx, credentials);
  let { row, input } = await tryStart(ctx, key, startOn(ctx, key, null));
  for (let tries = 0; row && isBehind(row) && tries < MAXIMUM_REBASES; tries += 1) {
    ({ row, input } = await tryStart(ctx, key, await decide(ctx, key, row)));
  }
  const now = ctx.clock.now();
  if (row?.failureReason === DEPLOYMENT_FAILURES.patchConflict)
    throw new PatchConflict(row.message ?? "");
  if (row?.outcome === "refused")
    throw new StartRefused(reasonsOf(row, approverVerifier(ctx.settings), now));
  const started = requireLease(row, now);
  const directive = directiveFor(started, now);
  if (started.state === "running" && input) return { row: started, input, directive };
  if (!isBehind(started)) throw new LeaseLost();
  throw new AttemptConflict(CONFIGURATION_CHANGING, directive);
}

/** @param decision What decides about the start, in its batch. */
async function tryStart(
  ctx: RunnerContext,
  key: AttemptKey,
  decision: Statements,
): Promise<{ row?: StartRow | undefined; input?: InputRow | undefined }> {
  const { db } = ctx;
  const results = await batch(ctx.db, {
    decision,
    finalized: finalize(ctx, { attempt: key.id }, ctx.clock.now()),
    row: findStart(db, key),
    input: findInput(db, key),
  });
  return { row: results.row[0], input: results.input[0] };
}

/** Fails the deployment if its patch does not apply, refuses the start if a rule is not met, or else starts it. */
async function decide(ctx: RunnerContext, key: AttemptKey, row: StartRow): Promise<Statements> {
  const { db } = ctx;
  const result = row.currentConfiguration === null ? undefined : await resolveOf(db, row);
  if (result && "message" in result) {
    return { failed: failPatch(db, key, result, ctx.clock.now()) };
  }
  // It is decided in the new order, by the next try.
  if (result && !isSameOrder(row, result.stackIds)) {
    return { reordered: reorderStacks(db, key, result, ctx.clock.now()) };
  }
  const facts = row.facts === null ? undefined : (JSON.parse(row.facts) as Facts);
  // It is decided with what is stored, by the next try.
  const own = facts && (await computeOwn(db, row, facts));
  if (own) return { resulting: storeResulting(db, row.organizationId, row.id, own) };
  const now = ctx.clock.now();
  const conditions = facts ? findOpenConditions(facts, approverVerifier(ctx.settings), now) : [];
  if (conditions.length > 0) {
    return refuseStart(db, key, { facts: row.facts, heldUntil: heldUntil(conditions) }, now);
  }
  const rebased = result && { ...result, digest: await digestOfText(result.configuration) };
  return { rebased: rebased && rebase(db, key, rebased, now), ...startOn(ctx, key, row.facts) };
}

function startOn(ctx: RunnerContext, key: AttemptKey, facts: string | null) {
  return startDeployment(ctx.db, key, facts, ctx.clock.now());
}

/** Whether the offer is still good, and something has to be decided first. */
function isBehind({ currentConfiguration, facts, state }: StartRow): boolean {
  return state === "offered" && (currentConfiguration !== null || facts !== null);
}

type ResolvedStart = { message: string; version: number } | (Rebase & { stackIds: string[] });

/** What the deployment would execute, with its stacks in the order of their needs. */
async function resolveOf(db: Database, row: StartRow): Promise<ResolvedStart> {
  const currentConfiguration = row.currentConfiguration ?? "{}";
  const ownConfiguration = row.ownConfiguration ?? "{}";
  const result = resolveRebase({ ...row, currentConfiguration, ownConfiguration });
  if ("message" in result) return result;
  const ids = idsOf(row);
  if (!mayHaveNeeds(result.configuration)) return { ...result, stackIds: ids };
  const configuration = JSON.parse(result.configuration) as Document;
  const stacks = await listStacksOfEnvironment(db, row.organizationId, row.environmentId);
  try {
    const before = JSON.parse(currentConfiguration) as Document;
    return { ...result, stackIds: orderStacks({ configuration, before, stacks, ids }) };
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    const message = `${DEPLOYMENT_FAILURES.patchConflict}: ${error.message}`;
    return { message, version: result.version };
  }
}

function idsOf({ stacks }: Pick<StartRow, "stacks">): string[] {
  return (JSON.parse(stacks) as StackOfDeployment[]).map(({ id }) => id);
}

function isSameOrder(row: StartRow, ids: readonly string[]): boolean {
  return JSON.stringify(idsOf(row)) === JSON.stringify(ids);
}

function reasonsOf({ facts }: StartRow, verifier: ApproverVerifier, now: number): string {
  const conditions =
    facts === null ? [] : findOpenConditions(JSON.parse(facts) as Facts, verifier, now);
  return conditions.map(({ message }) => message).join(" ");
}

import type { RunnerContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { configurationProblem } from "../../projects/environments/index.ts";
import {
  type AttemptKey,
  DEPLOYMENT_FAILURES,
  type Document,
  failPatch,
  finalize,
  type Operation,
  PatchError,
  patchBetween,
  patchDocument,
  type Rebase,
  rebase,
  startDeployment,
} from "../deployments/index.ts";
import { directiveFor } from "./directive.ts";
import { AttemptConflict, CONFIGURATION_CHANGING, LeaseLost, PatchConflict } from "./errors.ts";
import { findInput, type InputRow } from "./input-store.ts";
import { authenticateLease, type LeaseCredentials, requireLease } from "./lease.ts";
import { findStart, type StartedDeployment, type StartRow } from "./store.ts";

/** A rebase fails only if another request has changed the configuration in the meantime. */
export const MAXIMUM_REBASES = 10;

/** Idempotent. Throws `PatchConflict` if the patch does not apply: the deployment has failed. */
export async function startAttempt(
  ctx: RunnerContext,
  credentials: LeaseCredentials,
): Promise<StartedDeployment> {
  const key = await authenticateLease(ctx, credentials);
  let { row, input } = await tryStart(ctx, key, undefined);
  for (let rebases = 0; row && isOutdated(row) && rebases < MAXIMUM_REBASES; rebases += 1) {
    ({ row, input } = await tryStart(ctx, key, resolveRebase(row)));
  }
  const now = ctx.clock.now();
  if (row?.failureReason === DEPLOYMENT_FAILURES.patchConflict)
    throw new PatchConflict(row.message ?? "");
  const started = requireLease(row, now);
  const directive = directiveFor(started, now);
  if (started.state === "running" && input) return { row: started, input, directive };
  if (!isOutdated(started)) throw new LeaseLost();
  throw new AttemptConflict(CONFIGURATION_CHANGING, directive);
}

type RebaseResult = Rebase | { message: string; version: number };

async function tryStart(
  ctx: RunnerContext,
  key: AttemptKey,
  rebaseResult: RebaseResult | undefined,
): Promise<{ row?: StartRow | undefined; input?: InputRow | undefined }> {
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await batch(ctx.db, {
    rebased: rebaseResult && applyRebase(db, key, rebaseResult, now),
    started: startDeployment(db, key, now),
    finalized: finalize(ctx, { attempt: key.id }, now),
    row: findStart(db, key),
    input: findInput(db, key),
  });
  return { row: results.row[0], input: results.input[0] };
}

function applyRebase(db: Database, key: AttemptKey, result: RebaseResult, now: number) {
  return "message" in result ? failPatch(db, key, result, now) : rebase(db, key, result, now);
}

function isOutdated({ currentConfiguration, state }: StartRow): boolean {
  return state === "offered" && currentConfiguration !== null;
}

function resolveRebase(row: StartRow): RebaseResult {
  const version = row.currentVersion;
  const current = JSON.parse(row.currentConfiguration ?? "{}") as Document;
  if (row.isAbsolute) {
    const configuration = row.ownConfiguration ?? "{}";
    const patch = patchBetween(current, JSON.parse(configuration) as Document);
    return { patch: JSON.stringify(patch), configuration, version };
  }
  try {
    const { document, patch } = patchDocument(current, JSON.parse(row.patch) as Operation[]);
    const problem = configurationProblem(document);
    if (problem) return { message: `${DEPLOYMENT_FAILURES.patchConflict}: ${problem}`, version };
    return { patch: JSON.stringify(patch), configuration: JSON.stringify(document), version };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = `${DEPLOYMENT_FAILURES.patchConflict}: operation ${error.index}: ${error.message}`;
    return { message, version };
  }
}

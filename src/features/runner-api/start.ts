import type { RunnerContext } from "../../context.ts";
import { commit } from "../../db/batch.ts";
import type { Database } from "../../db/client.ts";
import {
  type Document,
  FAILURES,
  finalize,
  type Operation,
  PatchError,
  patchBetween,
  patchDocument,
} from "../deployments/index.ts";
import { configurationProblem } from "../environments/index.ts";
import { directiveFor } from "./directive.ts";
import { AttemptConflict, LeaseLost, PatchConflict } from "./errors.ts";
import { type LeaseClaim, requireLease, requireLeaseHeld } from "./service.ts";
import type { Rebase, Reference, Started, StartRow } from "./store.ts";
import * as store from "./store.ts";

/** Each try loses against another change of the configuration that was acknowledged. */
const TRIES = 10;

/**
 * Starts an offered deployment, in time; again, it changes nothing. If the environment's
 * configuration has changed since the deployment was based on it, the deployment is based on the
 * current one first. Throws `PatchConflict` if its patch does not apply to that: it has failed.
 */
export async function startAttempt(ctx: RunnerContext, lease: LeaseClaim): Promise<Started> {
  const reference = await requireLease(ctx, lease);
  let row = await tryStart(ctx, reference, undefined);
  for (let tries = 0; row && isOutdated(row) && tries < TRIES; tries += 1) {
    row = await tryStart(ctx, reference, rebase(row));
  }
  const now = ctx.clock.now();
  if (row?.failureReason === FAILURES.patchConflict) throw new PatchConflict(row.message ?? "");
  const { state } = requireLeaseHeld(row, now);
  if (!row || (state === "offered" && !isOutdated(row))) throw new LeaseLost();
  const desired = directiveFor(row, now);
  if (state === "running") return { row, desired };
  throw new AttemptConflict("The configuration keeps changing. Start the attempt again.", desired);
}

/** What becomes of a deployment on the current configuration. */
type Resolution = Rebase | { message: string; version: number };

/** Tries to start, on another configuration if need be, and gives what the batch has left. */
async function tryStart(
  ctx: RunnerContext,
  reference: Reference,
  resolution: Resolution | undefined,
): Promise<StartRow | undefined> {
  const { db } = ctx;
  const now = ctx.clock.now();
  const results = await commit(ctx, {
    resolved: resolution && resolve(db, reference, resolution, now),
    started: store.start(db, reference, now),
    finalized: finalize(ctx, { attempt: reference.id }, now),
    row: store.findStart(db, reference),
  });
  const [row] = results.row;
  return row;
}

function resolve(db: Database, reference: Reference, resolution: Resolution, now: number) {
  return "message" in resolution
    ? store.failPatch(db, reference, resolution, now)
    : store.rebase(db, reference, resolution, now);
}

/** Whether the configuration has another version than the deployment is based on. */
function isOutdated({ currentConfiguration, state }: StartRow): boolean {
  return state === "offered" && currentConfiguration !== null;
}

/**
 * The deployment on the current configuration: its patch applied again; or, for one whose
 * configuration is fixed, the patch that leads there.
 */
function rebase(row: StartRow): Resolution {
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
    if (problem) return { message: `${FAILURES.patchConflict}: ${problem}`, version };
    return { patch: JSON.stringify(patch), configuration: JSON.stringify(document), version };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = `${FAILURES.patchConflict}: operation ${error.index}: ${error.message}`;
    return { message, version };
  }
}

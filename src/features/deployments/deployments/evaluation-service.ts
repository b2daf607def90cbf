import type { SystemContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";
import { approverVerifier } from "../../../lib/settings.ts";
import { takeTurns } from "../../../turns.ts";
import { type Facts, findOpenConditions, heldUntil, isExpired } from "../conditions/index.ts";
import { computeEarlier, isUndecided, withOwnDigests } from "./digest-service.ts";
import type { EvaluatedFilter } from "./pending-store.ts";
import * as store from "./pending-store.ts";
import { finalize } from "./transitions/finalize.ts";
import { expireApprovals, holdDeployment } from "./transitions/rules.ts";
import { writeApprovalRequest } from "./write-events.ts";

/** The deployments that one batch changes. */
const CHUNK = 8;

interface Evaluated {
  id: string;
  organizationId: string;
  /** JSON of `Facts`. Null: no rules apply. */
  facts: string | null;
  awaitsApproval: boolean;
}

/** Which digests an evaluation computes that are not stored yet: the schedule alone computes those of other deployments. */
type Computed = "none" | "own" | "all";

/** Decides from when these queued deployments may start. What changes meanwhile, the sweep evaluates again. */
export async function evaluateQueued(ctx: SystemContext, filter: EvaluatedFilter): Promise<void> {
  for (let after = ""; ; ) {
    const rows = await store.listQueuedOf(ctx.db, filter, after, CHUNK);
    await evaluateAll(ctx, rows, "deployment" in filter ? "own" : "none");
    const last = rows.at(-1);
    if (!last || rows.length < CHUNK) return;
    after = last.id;
  }
}

/** The schedule calls this each minute. Organizations take turns, so that none waits for what another has queued. */
export async function sweepHeld(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now();
  let left: number = LIMITS.sweepHeld.value;
  const waiting = await store.listHeldOrganizations(ctx.db, left);
  await takeTurns(ctx, waiting, async (own, organizationId) => {
    if (left <= 0 || ctx.clock.now() - now > LIMITS.sweepHeldMs.value) return false;
    const count = await evaluateNext(own, { organizationId, now, limit: CHUNK });
    left -= count;
    return count === CHUNK;
  });
}

/** Returns how many. Of those of a batch that fails, each is evaluated alone; one that fails alone comes last. */
async function evaluateNext(ctx: SystemContext, next: store.HeldRange): Promise<number> {
  try {
    const rows = await store.listHeld(ctx.db, next);
    await evaluateAll(ctx, rows, "all");
    return rows.length;
  } catch (error) {
    if (next.limit > 1) return evaluateAlone(ctx, next);
    const { organizationId: organization_id } = next;
    ctx.log("error", "deployments.not_evaluated", { organization_id, ...describeError(error) });
    await store.postponeHeld(ctx.db, next);
    return 1;
  }
}

async function evaluateAlone(ctx: SystemContext, next: store.HeldRange): Promise<number> {
  for (let count = 0; ; count += 1) {
    if (count === next.limit) return count;
    if ((await evaluateNext(ctx, { ...next, limit: 1 })) === 0) return count;
  }
}

/** Computes one after another: each may read a document. */
async function evaluateAll(
  ctx: SystemContext,
  rows: readonly Evaluated[],
  computed: Computed,
): Promise<void> {
  if (rows.length === 0) return;
  const known: Evaluated[] = [];
  for (const row of rows) {
    const facts = computed === "none" ? row.facts : await computeMissing(ctx, row, computed);
    known.push({ ...row, facts });
  }
  const statements = await Promise.all(known.map((row) => changeOf(ctx, row)));
  await batch(ctx.db, Object.fromEntries(statements.map((each, key) => [`item${key}`, each])));
}

async function computeMissing(
  ctx: SystemContext,
  row: Evaluated,
  computed: Computed,
): Promise<string | null> {
  const { db } = ctx;
  const facts = await withOwnDigests(db, row);
  if (facts === null || computed === "own") return facts;
  if (!(await computeEarlier(ctx, row, JSON.parse(facts) as Facts))) return facts;
  const [read] = await store.selectQueuedFacts(db, row.organizationId, row.id);
  return read ? read.facts : facts;
}

async function changeOf(ctx: SystemContext, row: Evaluated): Promise<Statements> {
  const now = ctx.clock.now();
  const { id, awaitsApproval } = row;
  const facts = row.facts === null ? null : (JSON.parse(row.facts) as Facts);
  const conditions = facts ? findOpenConditions(facts, approverVerifier(ctx.settings), now) : [];
  const approvals = conditions.filter(({ code }) => code === "approvals");
  const evaluation = {
    id,
    facts: row.facts,
    heldUntil: facts ? heldUntil(conditions) : 0,
    approvals,
  };
  // Approvals may count once its digests are there.
  if (facts && isExpired(conditions, now) && !(await isUndecided(facts))) {
    return {
      expired: expireApprovals(ctx.db, evaluation, now),
      finalized: finalize(ctx, { deployment: id }, now),
    };
  }
  const isNew = approvals.length > 0 && !awaitsApproval;
  return {
    requested: isNew ? writeApprovalRequest(ctx, evaluation) : undefined,
    held: holdDeployment(ctx.db, evaluation, now),
  };
}

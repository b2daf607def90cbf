import type { SystemContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  type Condition,
  type Content,
  exceptionsOf,
  type Facts,
  findOpenConditions,
  heldUntil,
  isExpired,
  needsContent,
} from "../conditions/index.ts";
import { compareContents, contentOf, findSame } from "./content.ts";
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

export async function evaluate(
  ctx: SystemContext,
  row: Omit<Evaluated, "awaitsApproval">,
): Promise<Condition[]> {
  if (row.facts === null) return [];
  const facts = JSON.parse(row.facts) as Facts;
  return findOpenConditions(facts, await loadContent(ctx, row, facts), ctx.clock.now());
}

/** Undefined: nothing has changed since the approvals. */
export async function loadContent(
  { db }: Pick<SystemContext, "db">,
  { id, organizationId }: Pick<Evaluated, "id" | "organizationId">,
  facts: Facts,
): Promise<Content | undefined> {
  if (!needsContent(facts)) return undefined;
  const [pending] = await store.findPending(db, organizationId, id);
  if (!pending) return undefined;
  const content = await contentOf(pending);
  const exceptions = exceptionsOf(facts);
  const ids = facts.successes.map((success) => success.id);
  const earlier =
    content && exceptions ? await store.listConfigurations(db, organizationId, ids) : [];
  const sameIds = content ? findSame(content, earlier, exceptions ?? []) : [];
  return compareContents(content, JSON.parse(pending.approved) as string[], sameIds);
}

/** Decides from when these queued deployments may start. What changes meanwhile, the sweep evaluates again. */
export async function evaluateQueued(ctx: SystemContext, filter: EvaluatedFilter): Promise<void> {
  for (let after = ""; ; ) {
    const rows = await store.listQueuedOf(ctx.db, filter, after, CHUNK);
    await evaluateAll(ctx, rows);
    const last = rows.at(-1);
    if (!last || rows.length < CHUNK) return;
    after = last.id;
  }
}

/** The schedule calls this each minute. Organizations take turns, so that none waits for what another has queued. */
export async function sweepHeld(ctx: SystemContext): Promise<void> {
  const now = ctx.clock.now();
  let waiting = await store.listHeldOrganizations(ctx.db, LIMITS.sweepHeld.value);
  let left: number = LIMITS.sweepHeld.value;
  while (waiting.length > 0) {
    const unfinished: string[] = [];
    for (const organizationId of waiting) {
      if (left <= 0 || ctx.clock.now() - now > LIMITS.sweepHeldMs.value) return;
      const rows = await store.listHeld(ctx.db, { organizationId, now, limit: CHUNK });
      await evaluateAll(ctx, rows);
      left -= rows.length;
      if (rows.length === CHUNK) unfinished.push(organizationId);
    }
    waiting = unfinished;
  }
}

async function evaluateAll(ctx: SystemContext, rows: readonly Evaluated[]): Promise<void> {
  if (rows.length === 0) return;
  const statements = await Promise.all(rows.map((row) => changeOf(ctx, row)));
  await batch(ctx.db, Object.fromEntries(statements.map((each, key) => [`item${key}`, each])));
}

async function changeOf(ctx: SystemContext, row: Evaluated): Promise<Statements> {
  const conditions = await evaluate(ctx, row);
  const now = ctx.clock.now();
  const { id, facts, awaitsApproval } = row;
  const approvals = conditions.filter(({ code }) => code === "approvals");
  const evaluation = {
    id,
    facts,
    heldUntil: facts === null ? 0 : heldUntil(conditions),
    approvals,
  };
  if (!isExpired(conditions, now)) {
    const isNew = approvals.length > 0 && !awaitsApproval;
    return {
      requested: isNew ? writeApprovalRequest(ctx, evaluation) : undefined,
      held: holdDeployment(ctx.db, evaluation, now),
    };
  }
  return {
    expired: expireApprovals(ctx.db, evaluation, now),
    finalized: finalize(ctx, { deployment: id }, now),
  };
}

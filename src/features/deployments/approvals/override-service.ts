import { type Actor, authorize, hasBoundaries } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { toTimestamp } from "../../../lib/clock.ts";
import { Conflict, Unauthorized } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { jsonBytes } from "../../../lib/json-value.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { refuseEscalation, requireFull } from "../../housekeeping/audit/index.ts";
import type { Facts, Freeze, Override } from "../conditions/index.ts";
import {
  type DeploymentRow,
  evaluateQueued,
  type FoundDeployment,
  findDeployment,
  findPending,
  JSON_TEXTS,
  overrideConditions,
  selectDeployment,
} from "../deployments/index.ts";
import { CHANGING, NOT_QUEUED, ONLY_OWNERS } from "./model.ts";
import { writeOverrideEvent } from "./write-events.ts";

type OverrideInput = Pick<Override, "reason" | "conditions">;

/** Lets a deployment start in spite of conditions, as long as its content is the same. */
export async function overrideDeployment(
  ctx: ServiceContext,
  id: string,
  input: OverrideInput,
): Promise<DeploymentRow> {
  const { db, actor } = ctx;
  const { organizationId, membershipId } = actor;
  const { found, pending } = await batch(db, {
    found: findDeployment(ctx, id),
    pending: findPending(db, organizationId, id),
  });
  const { projectId } = authorize(actor, "deployment", found[0], "viewer");
  const facts = pending[0]?.facts ?? null;
  const { freezes = [] } = facts === null ? {} : (JSON.parse(facts) as Facts);
  await requireOverride(ctx, id, input, freezes);
  if (facts === null) throw new Conflict(`${NOT_QUEUED}, or no rule applies to it.`);
  const now = ctx.clock.now();
  const change = { conditions: [...new Set(input.conditions)], reason: input.reason };
  const lifted = input.conditions.includes("freeze") && {
    freeze_ids: freezes.filter((each) => mayLift(actor, each)).map((each) => each.id),
  };
  const by = { membership_id: membershipId, created_at: toTimestamp(now) };
  const override = { id: newId(ctx.clock), ...change, ...lifted, ...by };
  const target = { type: "deployment", id } as const;
  const { guarded, reads } = await writeBatch(ctx, {
    growth: { organizationId, bytes: jsonBytes(override) },
    guarded: overrideConditions(db, id, facts, override),
    acts: [{ action: "deployment.overridden", target, projectId, changes: { after: change } }],
    effects: { notified: writeOverrideEvent(ctx, id, override) },
    entry: { row: selectDeployment(db, organizationId, id, now), json: JSON_TEXTS },
    reads: { deployment: findDeployment(ctx, id) },
  });
  const [overridden] = reads.deployment;
  if (guarded.length === 0 || !overridden) throw CHANGING;
  await evaluateQueued(ctx, { deployment: id });
  return overridden;
}

function mayLift({ role, membershipId }: Actor, { override }: Freeze): boolean {
  return role === "owner" || override.includes(membershipId);
}

/** Owners of the organization, with all that they may do; those whom each freeze names, with their own key. */
async function requireOverride(
  ctx: ServiceContext,
  id: FoundDeployment["id"],
  { conditions }: OverrideInput,
  freezes: readonly Freeze[],
): Promise<void> {
  const { actor } = ctx;
  const target = { type: "deployment", id } as const;
  if (actor.role === "owner") return requireFull(ctx, target);
  const now = ctx.clock.now();
  const active = freezes.filter(({ startsAt, endsAt }) => startsAt <= now && now < endsAt);
  const isNamed = active.every((each) => mayLift(actor, each));
  const isOwn = actor.isOwnKey && actor.scopes === null && !hasBoundaries(actor);
  if (conditions.every((code) => code === "freeze") && active.length > 0 && isNamed && isOwn)
    return;
  await refuseEscalation(ctx, target, new Unauthorized(ONLY_OWNERS));
}

import { requireExpectedVersion, requireOrgRole, type ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { Conflict, NotFound } from "../../lib/errors.ts";
import { recordActs } from "../audit/index.ts";
import { presentKeyPolicy } from "./presenters.ts";
import * as store from "./store.ts";

export const POLICY_CHANGED = "The rules have just changed. Read them again and retry.";

export interface KeyPolicy {
  /** Null: keys may be of any age. */
  maximumAgeSeconds: number | null;
}

/** The version is that of the organization. */
export type VersionedKeyPolicy = KeyPolicy & { recordVersion: number };

export async function getKeyPolicy(
  ctx: ServiceContext,
  organizationId: string,
): Promise<VersionedKeyPolicy> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [policy] = await store.findMaximumAge(ctx.db, organizationId);
  if (!policy) throw new NotFound("organization");
  return policy;
}

/** Applies to new keys only. */
export async function setKeyPolicy(
  ctx: ServiceContext,
  organizationId: string,
  policy: KeyPolicy,
): Promise<VersionedKeyPolicy> {
  requireOrgRole(ctx.actor, organizationId, "owner");
  const before = await getKeyPolicy(ctx, organizationId);
  await requireExpectedVersion(ctx, before.recordVersion, () => presentKeyPolicy(before));
  if (before.maximumAgeSeconds === policy.maximumAgeSeconds) return before;
  const target = { type: "organization", id: organizationId } as const;
  const changes = {
    before: presentKeyPolicy(before),
    after: presentKeyPolicy(policy),
  };
  const act = { action: "organization.key_policy_changed", target, changes } as const;
  const change = {
    from: before.maximumAgeSeconds,
    to: policy.maximumAgeSeconds,
    now: ctx.clock.now(),
  };
  const { changed } = await batch(ctx.db, {
    changed: store.setMaximumAge(ctx, organizationId, change),
    audit: recordActs(ctx, organizationId, [act]),
  });
  const [after] = changed;
  if (after) return after;
  const now = await getKeyPolicy(ctx, organizationId);
  await requireExpectedVersion(ctx, now.recordVersion, () => presentKeyPolicy(now));
  throw new Conflict(POLICY_CHANGED);
}

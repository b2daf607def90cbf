import { requireOrgRole, type ServiceContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { NotFound } from "../../lib/errors.ts";
import { recordActs } from "../audit/index.ts";
import * as store from "./store.ts";

export interface KeyPolicy {
  /** Null: keys may be of any age. */
  maximumAgeSeconds: number | null;
}

export async function getKeyPolicy(
  ctx: ServiceContext,
  organizationId: string,
): Promise<KeyPolicy> {
  requireOrgRole(ctx.actor, organizationId, "admin");
  const [policy] = await store.findMaximumAge(ctx.db, organizationId);
  if (!policy) throw new NotFound("organization");
  return policy;
}

/** Applies to new keys only. */
export async function setKeyPolicy(
  ctx: ServiceContext,
  organizationId: string,
  { maximumAgeSeconds: maxKeyAgeSeconds }: KeyPolicy,
): Promise<KeyPolicy> {
  requireOrgRole(ctx.actor, organizationId, "owner");
  const before = await getKeyPolicy(ctx, organizationId);
  if (before.maximumAgeSeconds === maxKeyAgeSeconds) return before;
  const target = { type: "organization", id: organizationId } as const;
  const changes = {
    before: { max_age_seconds: before.maximumAgeSeconds },
    after: { max_age_seconds: maxKeyAgeSeconds },
  };
  const act = { action: "organization.key_policy_changed", target, changes } as const;
  const change = { maxKeyAgeSeconds, updatedAt: ctx.clock.now() };
  const { changed } = await runBatch(ctx.db, {
    changed: store.setMaximumAge(ctx.db, organizationId, change),
    audit: recordActs(ctx, organizationId, [act]),
  });
  const [policy] = changed;
  if (!policy) throw new NotFound("organization");
  return policy;
}

import { requireOrgRole } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { NotFound } from "../../../lib/errors.ts";
import { write } from "../../../writes/write.ts";
import { POLICY_CHANGED } from "./model.ts";
import { presentKeyPolicy } from "./presenters.ts";
import * as store from "./store.ts";

export interface KeyPolicy {
  /** Null: keys may be of any age. */
  maximumAgeSeconds: number | null;
}

/** The version is that of the organization. */
export type VersionedKeyPolicy = KeyPolicy & { version: number };

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
  const before = await requireExpected(ctx, organizationId);
  if (before.maximumAgeSeconds === policy.maximumAgeSeconds) return before;
  const target = { type: "organization", id: organizationId } as const;
  const changes = {
    before: presentKeyPolicy(before),
    after: presentKeyPolicy(policy),
  };
  const change = {
    from: before.maximumAgeSeconds,
    to: policy.maximumAgeSeconds,
    now: ctx.clock.now(),
  };
  return write(ctx, {
    guarded: store.setMaximumAge(ctx, organizationId, change),
    acts: [{ action: "organization.key_policy_changed", target, changes }],
    reread: () => requireExpected(ctx, organizationId),
    otherwise: () => POLICY_CHANGED,
  });
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(
  ctx: ServiceContext,
  organizationId: string,
): Promise<VersionedKeyPolicy> {
  const policy = await getKeyPolicy(ctx, organizationId);
  await requireExpectedVersion(ctx, policy.version, () => presentKeyPolicy(policy));
  return policy;
}

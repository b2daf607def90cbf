import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ChangedKey, ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { requireFullWhereProtected } from "../../housekeeping/audit/index.ts";
import { auditRevocation, LAST_OWNER_KEY, revokeKeys } from "../credentials/index.ts";
import { requireMayRotate, requireNoEscalation, requireNoLongerLife } from "./authority.ts";
import { issueApiKey } from "./credentials.ts";
import { type ExpiryRules, earlier, isByPolicy, later, resolveExpiry } from "./expiry.ts";
import { KEY_CHANGED, OUTLIVED, TRUST_KEY } from "./model.ts";
import { presentAuthority } from "./presenters.ts";
import * as rotations from "./rotation-store.ts";
import { requireValidKey } from "./service.ts";
import * as store from "./store.ts";

export interface RotationInput {
  /** How long the old key remains valid. 0: it is revoked at once. */
  overlapSeconds: number;
  /** Milliseconds since the Unix epoch. Undefined: as the old key. */
  expiresAt: number | undefined;
}

/** Creates a key with the authority and the lineage of the old one, which it replaces. */
export async function rotateKey(
  ctx: ServiceContext,
  organizationId: string,
  id: string,
  input: RotationInput,
): Promise<store.CreatedKey> {
  const old = await requireValidKey(ctx, organizationId, id);
  if (old.trustId !== null) throw TRUST_KEY;
  const rules = await readRotation(ctx, old);
  await requireMayRotate(ctx, old, rules.caller);
  const { membership, isLastOwnerKey } = rules;
  const target = { type: "api_key", id, name: old.name } as const;
  if (id !== ctx.actor.keyId) {
    await requireNoEscalation(ctx, target, { membership, role: old.role, narrowing: old });
  }
  if (membership.id !== ctx.actor.membershipId) await requireFullWhereProtected(ctx, target, old);
  const { expiresAt, expiresByPolicy } = expiryOf(old, input, rules);
  if (id !== ctx.actor.keyId) await requireNoLongerLife(ctx, target, expiresAt);
  const issued = await issueApiKey(newId(ctx.clock));
  const { id: newKeyId, secretHash, lastFour } = issued;
  const { actor } = ctx;
  const isOwn = old.isOwn && actor.isOwnKey && actor.membershipId === old.membershipId;
  const rotatedByKeyId = id === actor.keyId ? old.rotatedByKeyId : actor.keyId;
  const expiry = { expiresAt, expiresByPolicy };
  const key = { id: newKeyId, secretHash, lastFour, ...expiry, isOwn, rotatedByKeyId };
  const rotation = { old, actor, key, now: ctx.clock.now() };
  const changed = changedBy(ctx, old, input.overlapSeconds);
  const { guarded, effects } = await writeRotation(ctx, rotation, input.overlapSeconds, {
    secrets: { key: issued.key },
    changedKeys: changed,
  });
  const [row] = guarded;
  if (!row) {
    await requireRotatable(ctx, rotation);
    throw isLastOwnerKey ? LAST_OWNER_KEY : KEY_CHANGED;
  }
  const revoked = effects.ended.revoked.map((each) => toRevokedKey(each, ctx.clock));
  await ctx.invalidateKeys([...changed, ...revoked]);
  return { row, key: issued.key };
}

async function readRotation({ db, actor, clock }: ServiceContext, old: store.ApiKeyRow) {
  const { organizationId, membershipId, createdByKeyId } = old;
  const now = clock.now();
  const { memberships, callers, parents, policies, lastKeys } = await batch(db, {
    memberships: store.findMembership(db, organizationId, membershipId),
    callers: store.findCaller(db, actor),
    parents: store.findExpiry(db, createdByKeyId ?? ""),
    policies: store.findMaximumAge(db, organizationId),
    lastKeys: rotations.findLastOwnerKey(db, old, now),
  });
  const [membership] = memberships;
  if (!membership) throw KEY_CHANGED;
  const [caller] = callers;
  const latest = earlier(
    later(old.expiresAt, caller?.expiresAt ?? null),
    parents[0]?.expiresAt ?? null,
  );
  const maximumAgeSeconds = policies[0]?.maximumAgeSeconds ?? null;
  const isLastOwnerKey = lastKeys.length > 0;
  return { membership, caller, isLastOwnerKey, now, latest, maximumAgeSeconds };
}

function expiryOf(
  old: store.ApiKeyRow,
  { expiresAt: requested }: RotationInput,
  rules: ExpiryRules & { isLastOwnerKey: boolean },
) {
  const expiresAt =
    requested === undefined && rules.isLastOwnerKey
      ? old.expiresAt
      : earlier(requested ?? old.expiresAt, resolveExpiry(requested, rules));
  if (expiresAt !== null && expiresAt <= rules.now) {
    throw new BadInput([{ path: "expires_at", message: "The key has expired: send a time." }]);
  }
  return { expiresAt, expiresByPolicy: isByPolicy(requested, expiresAt, old) };
}

/** The key that other isolates must read again. It has the version of `old`, or nothing is rotated. */
function changedBy(
  { clock }: ServiceContext,
  { secretHash, keyVersion }: store.ApiKeyRow,
  overlapSeconds: number,
): ChangedKey[] {
  if (overlapSeconds > 0) return [{ secretHash, version: keyVersion + 1 }];
  return [toRevokedKey({ secretHash, version: keyVersion }, clock)];
}

async function writeRotation(
  ctx: ServiceContext,
  rotation: rotations.Rotation,
  overlapSeconds: number,
  shown: { secrets: object; changedKeys: readonly ChangedKey[] },
) {
  const { db, actor } = ctx;
  const { old, key, now } = rotation;
  const { organizationId } = old;
  const hasOverlap = overlapSeconds > 0;
  const revocation = { organizationId, now, actor };
  const replaced = { ...revocation, keys: rotations.whereIsReplaced(rotation) };
  const target = { type: "api_key", id: old.id, name: old.name } as const;
  const { expires_at } = presentAuthority({ ...old, ...key });
  const changes = { after: { key_id: key.id, overlap_seconds: overlapSeconds, expires_at } };
  return writeBatch(ctx, {
    growth: {
      organizationId,
      records: { api_keys: hasOverlap ? 1 : 0 },
      bytes: hasOverlap ? bytesOf(old.name) : 0,
      bounds: hasOverlap ? [store.keyCountBound(old.membershipId)] : [],
    },
    guarded: rotations.insertRotatedKey(db, rotation),
    entry: { row: store.findKey(db, organizationId, key.id), ...shown },
    acts: [{ action: "api_key.rotated", target, changes }],
    effects: {
      descendants: rotations.carryOverDescendants(db, rotation),
      successor: rotations.nameSuccessor(db, rotation),
      endings: auditRevocation(ctx, replaced),
      ended: revokeKeys(db, replaced),
      old: hasOverlap
        ? rotations.expireOldKey(db, rotation, now + overlapSeconds * 1000)
        : revokeKeys(db, { ...revocation, keys: rotations.whereIsRotated(rotation) }),
    },
  });
}

/** Throws if the key has changed, or if a key that descends from it would outlive the new one. */
async function requireRotatable(
  ctx: ServiceContext,
  { old, key: { expiresAt } }: rotations.Rotation,
): Promise<void> {
  const { keyVersion } = await requireValidKey(ctx, old.organizationId, old.id);
  if (keyVersion !== old.keyVersion || expiresAt === null) throw KEY_CHANGED;
  const [outlived] = await rotations.findOutliving(ctx.db, old, expiresAt);
  if (outlived) throw OUTLIVED;
}

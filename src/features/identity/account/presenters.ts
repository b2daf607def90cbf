import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../../lib/clock.ts";
import { presentPerson } from "../memberships/index.ts";
import type { UpdateAccount } from "./schemas.ts";
import type { AccountPatch, Identity, OwnAccount } from "./store.ts";

/** The address is for the person only, not for an administrator with a key of the membership. */
export function presentAccount(account: OwnAccount, { isOwnKey }: { isOwnKey: boolean }) {
  return {
    id: account.id,
    email: isOwnKey && account.email !== null ? account.email : undefined,
    ...presentPerson(account),
    created_at: toTimestamp(account.createdAt),
    updated_at: toTimestamp(account.updatedAt),
  };
}

export function presentOwnAccount(
  account: OwnAccount,
  { actor }: { actor: { isOwnKey: boolean } },
) {
  return presentAccount(account, actor);
}

export function toAccountPatch(body: z.output<typeof UpdateAccount>): AccountPatch {
  const { name, display_name, avatar, profile } = body;
  return { name, displayName: display_name, avatar, profile };
}

/** The fields that the patch sets, before and after; undefined if it sets none. */
export function changedFields(before: OwnAccount, patch: AccountPatch) {
  const { name = before.name, displayName, avatar = before.avatar, profile } = patch;
  const follows = displayName === null || before.displayName === before.name;
  const pairs = [
    ["name", before.name, name],
    ["display_name", before.displayName, displayName ?? (follows ? name : before.displayName)],
    ["avatar", before.avatar, avatar],
    ["profile", before.profile, mergeProfile(before.profile, profile)],
  ] as const;
  const changed = pairs.filter(([, was, is]) => !isSame(was, is));
  if (changed.length === 0) return undefined;
  return {
    before: Object.fromEntries(changed.map(([field, was]) => [field, was ?? undefined])),
    after: Object.fromEntries(changed.map(([field, , is]) => [field, is ?? undefined])),
  };
}

type Profile = OwnAccount["profile"];

/** Source: RFC 7396, for one level. */
function mergeProfile(before: Profile, patch: AccountPatch["profile"]): Profile {
  if (patch === undefined) return before;
  const merged = { ...(patch && before), ...patch };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value != null));
}

function isSame(a: string | null | Profile, b: string | null | Profile): boolean {
  const sorted = (value: typeof a) =>
    typeof value === "object" && value !== null ? Object.entries(value).toSorted() : value;
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

export function presentIdentity(identity: Identity) {
  const { actor } = identity;
  const { session } = actor;
  const expiresAt = session
    ? Math.min(session.expiresAt, identity.expiresAt ?? Number.POSITIVE_INFINITY)
    : identity.expiresAt;
  return {
    organization: { id: actor.organizationId, name: identity.organizationName },
    membership: { id: actor.membershipId, role: identity.membershipRole, kind: identity.kind },
    account: { id: actor.accountId, name: identity.accountName },
    credential: {
      type: session ? ("session" as const) : ("api_key" as const),
      id: session?.id ?? actor.keyId,
      ...(session && !session.isOfPerson && { key_id: actor.keyId }),
      name: identity.keyName,
      role: actor.role,
      scopes: actor.scopes ? [...actor.scopes] : undefined,
      project_ids: actor.projectIds ? [...actor.projectIds] : undefined,
      environment_ids: actor.environmentIds ? [...actor.environmentIds] : undefined,
      expires_at: expiresAt === null ? undefined : toTimestamp(expiresAt),
      created_by: presentCreator(actor),
      own: actor.isOwnKey,
      full: actor.isFull,
    },
  };
}

function presentCreator({ createdByKeyId, createdByMembershipId }: Identity["actor"]) {
  if (createdByKeyId === null && createdByMembershipId === null) return undefined;
  return {
    key_id: createdByKeyId ?? undefined,
    membership_id: createdByMembershipId ?? undefined,
  };
}

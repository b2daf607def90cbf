import type { z } from "@hono/zod-openapi";
import { toTimestamp } from "../../lib/clock.ts";
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

export function toAccountPatch(body: z.output<typeof UpdateAccount>): AccountPatch {
  const { name, display_name, avatar, profile } = body;
  return { name, displayName: display_name, avatar, profile };
}

/** The fields that the patch sets, before and after; undefined if it sets none. */
export function changedFields(before: OwnAccount, patch: AccountPatch) {
  const { name, displayName, avatar, profile } = patch;
  const pairs = [
    ["name", before.name, name],
    ["display_name", before.displayName, displayName],
    ["avatar", before.avatar, avatar],
    ["profile", before.profile, profile],
  ] as const;
  const changed = pairs.filter(([, , after]) => after !== undefined);
  if (changed.length === 0) return undefined;
  return {
    before: Object.fromEntries(changed.map(([field, value]) => [field, value])),
    after: Object.fromEntries(changed.map(([field, , value]) => [field, value])),
  };
}

export function presentIdentity(identity: Identity) {
  const { actor } = identity;
  return {
    organization: { id: actor.organizationId, name: identity.organizationName },
    membership: { id: actor.membershipId, role: identity.membershipRole, kind: identity.kind },
    account: { id: actor.accountId, name: identity.accountName },
    credential: {
      type: "api_key" as const,
      id: actor.keyId,
      name: identity.keyName,
      role: actor.role,
      scopes: actor.scopes ? [...actor.scopes] : undefined,
      project_ids: actor.projectIds ? [...actor.projectIds] : undefined,
      environment_ids: actor.environmentIds ? [...actor.environmentIds] : undefined,
      expires_at: identity.expiresAt === null ? undefined : toTimestamp(identity.expiresAt),
      created_by: presentCreator(actor),
      own: actor.isOwnKey,
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

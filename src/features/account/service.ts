import { toRevokedKey } from "../../auth/credentials.ts";
import { type ChangedKey, requireExpectedVersion, type ServiceContext } from "../../context.ts";
import { batch } from "../../db/batch.ts";
import { Conflict, Unauthenticated, Unauthorized } from "../../lib/errors.ts";
import { type AuditedAct, recordActs, recordActsOf, requireFull } from "../audit/index.ts";
import { recordRow } from "../idempotency/index.ts";
import { changedFields, presentAccount } from "./presenters.ts";
import type { AccountPatch, Identity, OwnAccount } from "./store.ts";
import * as store from "./store.ts";

/** The membership was removed during the request, and its keys with it. */
const REVOKED = new Unauthenticated("Send a valid API key in the x-api-key header.");

export const SERVICE_ACCOUNT = new Unauthorized(
  "A service account has no person's account. Use a key of the person.",
);

export const LAST_OWNER_OF_SOME =
  "An organization or a project has no other owner, or no other owner's key without an expiration " +
  "date. Make another member its owner, with a key, or delete the project.";

export async function getAccount(ctx: ServiceContext): Promise<OwnAccount> {
  const [account] = await store.findOwnAccount(ctx.db, ctx.actor);
  if (!account) throw REVOKED;
  return account;
}

export async function getIdentity(ctx: ServiceContext): Promise<Identity> {
  const [identity] = await store.findIdentity(ctx.db, ctx.actor);
  if (!identity) throw REVOKED;
  return { ...identity, actor: ctx.actor };
}

export async function changeAccount(ctx: ServiceContext, patch: AccountPatch): Promise<OwnAccount> {
  const before = await requireOwnAccount(ctx);
  const changes = changedFields(before, patch);
  if (!changes) return before;
  const { organizationId } = ctx.actor;
  const target = { type: "account", id: before.id, name: patch.name ?? before.name } as const;
  const act = { action: "account.updated", target, changes } as const;
  const { updated } = await batch(ctx.db, {
    updated: store.updateAccount(ctx, before.id, patch),
    recorded: recordRow(ctx, store.findOwnAccount(ctx.db, ctx.actor)),
    audit: recordActs(ctx, organizationId, [act]),
    elsewhere: store.recordElsewhere(ctx, before.id, act),
  });
  const [row] = updated;
  if (!row) {
    await requireOwnAccount(ctx);
    throw REVOKED;
  }
  const { email, kind, role } = before;
  return { ...row, email, kind, role };
}

/** Ends the memberships of the account in every organization. Only its ID remains. */
export async function deleteAccount(ctx: ServiceContext): Promise<void> {
  const { db, clock } = ctx;
  const { id: accountId, email } = await requireOwnAccount(ctx);
  const { memberships, targets } = await batch(db, {
    memberships: store.listMemberships(db, accountId),
    targets: store.listPersonalTargets(db, accountId),
  });
  const targetIds = targets.map(({ id }) => id);
  const erasure = { accountId, memberships, targetIds, email, now: clock.now() };
  const acts = memberships.map((membership, at) => {
    return [`of ${at}`, recordDeletion(ctx, accountId, membership)] as const;
  });
  const { erased } = await batch(db, {
    erased: store.eraseAccount(ctx, erasure),
    acts: Object.fromEntries(acts),
  });
  if (erased.ended.length === 0) {
    await requireOwnAccount(ctx);
    throw new Conflict(LAST_OWNER_OF_SOME);
  }
  const keys: ChangedKey[] = Object.values(erased.keys).flatMap(({ revoked }) => revoked);
  await ctx.invalidateKeys(keys.map((key) => toRevokedKey(key, clock)));
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireOwnAccount(ctx: ServiceContext): Promise<OwnAccount> {
  const account = await getAccount(ctx);
  if (account.kind === "service_account") throw SERVICE_ACCOUNT;
  await requireFull(ctx, { type: "account", id: account.id, name: account.name });
  const { recordVersion } = account;
  await requireExpectedVersion(ctx, recordVersion, () => presentAccount(account, ctx.actor));
  return account;
}

/** Another organization does not learn the credential, which is not one of its own. */
function recordDeletion(
  ctx: ServiceContext,
  accountId: string,
  { id, organizationId, role }: { id: string; organizationId: string; role: string },
) {
  const acts: AuditedAct[] = [
    {
      action: "member.removed",
      target: { type: "member", id },
      changes: { before: { account_id: accountId, role } },
    },
    { action: "account.deleted", target: { type: "account", id: accountId } },
  ];
  if (organizationId === ctx.actor.organizationId) return recordActs(ctx, organizationId, acts);
  const { db, clock } = ctx;
  const actor = { type: "service", membershipId: id, accountId } as const;
  return recordActsOf({ db, clock }, organizationId, actor, acts);
}

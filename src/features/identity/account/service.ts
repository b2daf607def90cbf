import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ChangedKey, ServiceContext } from "../../../context.ts";
import { after, batch, type Statement } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { Unauthenticated } from "../../../lib/errors.ts";
import { SEND_API_KEY } from "../../../lib/header-errors.ts";
import { write } from "../../../writes/write.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type AuditedAct, requireFull, writeAudit } from "../../housekeeping/audit/index.ts";
import { LAST_OWNER_OF_SOME, SERVICE_ACCOUNT } from "./model.ts";
import { changedFields, presentAccount } from "./presenters.ts";
import type { AccountPatch, Identity, MembershipRow, OwnAccount } from "./store.ts";
import * as store from "./store.ts";

/** The membership was removed during the request, and its keys with it. */
const REVOKED = new Unauthenticated(SEND_API_KEY);

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
  const before = await requireExpected(ctx);
  const changes = changedFields(before, patch);
  if (!changes) return before;
  const target = { type: "account", id: before.id, name: patch.name ?? before.name } as const;
  const act = { action: "account.updated", target, changes } as const;
  const guarded = store.updateAccount(ctx, before.id, patch);
  const results = await writeBatch(ctx, {
    guarded,
    entry: { row: store.findOwnAccount(ctx.db, ctx.actor) },
    acts: [act],
    effects: { elsewhere: store.auditElsewhere(ctx, before.id, act, guarded) },
  });
  const [row] = results.guarded;
  if (!row) {
    await requireExpected(ctx);
    throw REVOKED;
  }
  const { email, kind, role } = before;
  return { ...row, email, kind, role };
}

/** Ends the memberships of the account in every organization. Only its ID remains. */
export async function deleteAccount(ctx: ServiceContext): Promise<void> {
  const { db, clock } = ctx;
  const { id: accountId, email } = await requireExpected(ctx);
  const { memberships, targets } = await batch(db, {
    memberships: store.listMemberships(db, accountId),
    targets: store.listPersonalTargets(db, accountId),
  });
  const targetIds = targets.map(({ id }) => id);
  const erasure = { accountId, memberships, targetIds, email, now: clock.now() };
  const { ended, account, ...first } = store.eraseAccount(ctx, erasure);
  const { own = [], others = [] } = Object.groupBy(memberships, ({ organizationId }) =>
    organizationId === ctx.actor.organizationId ? "own" : "others",
  );
  const elsewhere = others.map((membership, at) => {
    return [`of ${at}`, auditDeletionElsewhere(ctx, accountId, membership, ended)] as const;
  });
  await write(ctx, {
    first,
    guarded: ended,
    also: { account, elsewhere: Object.fromEntries(elsewhere) },
    acts: own.flatMap((membership) => describeDeletion(accountId, membership)),
    reread: () => requireExpected(ctx),
    otherwise: () => LAST_OWNER_OF_SOME,
    committed: ({ keys }) => {
      const revoked: ChangedKey[] = Object.values(keys).flatMap((each) => each.revoked);
      return ctx.invalidateKeys(revoked.map((key) => toRevokedKey(key, clock)));
    },
  });
}

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
async function requireExpected(ctx: ServiceContext): Promise<OwnAccount> {
  const account = await getAccount(ctx);
  if (account.kind === "service_account") throw SERVICE_ACCOUNT;
  await requireFull(ctx, { type: "account", id: account.id, name: account.name });
  const { version } = account;
  await requireExpectedVersion(ctx, version, () => presentAccount(account, ctx.actor));
  return account;
}

/** Another organization does not learn the credential, which is not one of its own. */
function auditDeletionElsewhere(
  { db, clock }: ServiceContext,
  accountId: string,
  membership: MembershipRow,
  ended: Statement,
) {
  const actor = { type: "service", membershipId: membership.id, accountId } as const;
  const acts = describeDeletion(accountId, membership);
  return after(ended, (hasChanged) =>
    writeAudit({ db, clock, actor }, membership.organizationId, acts, hasChanged),
  );
}

function describeDeletion(accountId: string, { id, role }: MembershipRow): AuditedAct[] {
  return [
    {
      action: "member.removed",
      target: { type: "member", id },
      changes: { before: { account_id: accountId, role } },
    },
    { action: "account.deleted", target: { type: "account", id: accountId } },
  ];
}

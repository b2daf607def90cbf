import type { ServiceContext } from "../../../context.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { Unauthenticated } from "../../../lib/errors.ts";
import { SEND_API_KEY } from "../../../lib/header-errors.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { requireFull } from "../../housekeeping/audit/index.ts";
import { SERVICE_ACCOUNT } from "./model.ts";
import { changedFields, presentAccount } from "./presenters.ts";
import type { AccountPatch, Identity, OwnAccount } from "./store.ts";
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

/** For a write. Throws `EtagMismatch` unless it has the version that the request expects. */
export async function requireExpected(ctx: ServiceContext): Promise<OwnAccount> {
  const account = await getAccount(ctx);
  if (account.kind === "service_account") throw SERVICE_ACCOUNT;
  await requireFull(ctx, { type: "account", id: account.id, name: account.name });
  const { version } = account;
  await requireExpectedVersion(ctx, version, () => presentAccount(account, ctx.actor));
  return account;
}

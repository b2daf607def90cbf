import { toRevokedKey } from "../../../auth/credentials.ts";
import type { ServiceContext } from "../../../context.ts";
import { after, batch, type Statement } from "../../../db/batch.ts";
import { writeInPages } from "../../../db/row-pages.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { type AuditedAct, writeAudit } from "../../housekeeping/audit/index.ts";
import { closePart } from "../credentials/index.ts";
import * as store from "./deletion-store.ts";
import { LAST_OWNER_OF_SOME } from "./model.ts";
import { requireExpected } from "./service.ts";

/**
 * Ends the memberships of the account in every organization. Only its ID remains. The copies of the person's data
 * are erased first, and then the keys end, both in several batches if they are many: a deletion that was interrupted
 * can be repeated.
 */
export async function deleteAccount(ctx: ServiceContext): Promise<void> {
  const { db, clock } = ctx;
  const { id: accountId, email } = await requireExpected(ctx);
  const { memberships, records } = await batch(db, {
    memberships: store.listMemberships(db, accountId),
    records: store.listRecords(db, accountId),
  });
  const recordIds = records.map(({ id }) => id);
  const person = { accountId, memberships, recordIds, email, now: clock.now() };
  const copies = store.copiesOf(db, person, await batch(db, store.findReach(db, person)));
  const eraseNew = await writeInPages(db, copies, store.guardErasure(ctx, person));
  if (!eraseNew) return refuse(ctx);
  const own = memberships.filter((each) => each.organizationId === ctx.actor.organizationId);
  const others = memberships.filter((each) => !own.includes(each));
  for (;;) {
    const { ended, account, ...first } = store.eraseAccount(ctx, person, eraseNew);
    const elsewhere = others.map((membership, at) => {
      return [`of ${at}`, auditElsewhere(ctx, accountId, membership, ended)] as const;
    });
    const results = await writeBatch(ctx, {
      first,
      guarded: ended,
      also: { account, elsewhere: Object.fromEntries(elsewhere) },
      acts: own.flatMap((membership) => describeDeletion(accountId, membership)),
      effects: { closed: closePart(db) },
    });
    const { revoked } = results.first.keys;
    await ctx.invalidateKeys(revoked.map((key) => toRevokedKey(key, clock)));
    if (results.guarded.length > 0) return;
    if (revoked.length === 0) return refuse(ctx);
  }
}

async function refuse(ctx: ServiceContext): Promise<never> {
  await requireExpected(ctx);
  throw LAST_OWNER_OF_SOME;
}

/** Another organization does not learn the credential, which is not one of its own. */
function auditElsewhere(
  { db, clock }: ServiceContext,
  accountId: string,
  membership: store.MembershipRow,
  ended: Statement,
) {
  const actor = { type: "service", membershipId: membership.id, accountId } as const;
  const acts = describeDeletion(accountId, membership);
  return after(ended, (hasChanged) =>
    writeAudit({ db, clock, actor }, membership.organizationId, acts, hasChanged),
  );
}

function describeDeletion(accountId: string, { id, role }: store.MembershipRow): AuditedAct[] {
  return [
    {
      action: "member.removed",
      target: { type: "member", id },
      changes: { before: { account_id: accountId, role } },
    },
    { action: "account.deleted", target: { type: "account", id: accountId } },
  ];
}

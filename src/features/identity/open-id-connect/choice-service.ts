import { toRevokedKey } from "../../../auth/credentials.ts";
import type { CoreContext, PublicContext } from "../../../context.ts";
import { after, batch, type Statements } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { type ApiError, NotFound } from "../../../lib/errors.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { writeAudit } from "../../housekeeping/audit/index.ts";
import { closePart } from "../credentials/index.ts";
import {
  acceptAsInvited,
  acceptWithAddress,
  declineInvitation,
  INVALID_INVITATION,
} from "../invitations/index.ts";
import { deleteUnprovenAccount, removeMembership } from "../memberships/index.ts";
import { type CreatedSession, startPersonSession } from "../sessions/index.ts";
import type { Choice } from "./choice-store.ts";
import * as choices from "./choice-store.ts";
import {
  CANNOT_DECLINE,
  NO_ACCOUNT,
  type PendingSignIn,
  type ProvenSignIn,
  SIGN_IN_TTL_MS,
  UNKNOWN_SIGN_IN,
} from "./model.ts";
import * as store from "./store.ts";

const NO_CHOICE = new NotFound("organization");

const FIRST = { limit: 1, direction: "desc", after: undefined } as const;

/**
 * Starts a session for the person with the verified address: in the organization of the invitation, or in
 * the only one of theirs. Undefined if the person has to choose.
 */
export async function signInWithAddress(
  ctx: PublicContext,
  pending: PendingSignIn,
  email: string,
): Promise<CreatedSession | undefined> {
  const { id, invitation } = pending;
  if (invitation !== undefined) {
    const joining = await acceptWithAddress(ctx, invitation, email);
    return startSession(ctx, id, joining, INVALID_INVITATION);
  }
  const { rows, next } = await listChoices(ctx, { id, email }, FIRST);
  const [only] = rows;
  if (!only?.isAccepted || next !== undefined) return undefined;
  return startSession(ctx, id, await planSignIn(ctx, only, email), NO_ACCOUNT);
}

/**
 * The memberships and open invitations of the address.
 * @throws ApiError if there are none, or the sign-in has succeeded before.
 */
export async function listChoices(
  { db, clock }: PublicContext,
  { id, email }: Pick<ProvenSignIn, "id" | "email">,
  page: PageRequest,
): Promise<Page<Choice>> {
  const { used, rows } = await batch(db, {
    used: store.findUsed(db, id),
    rows: choices.listChoices(db, email, clock.now(), page),
  });
  if (used.length > 0) throw UNKNOWN_SIGN_IN;
  if (rows.length === 0 && page.after === undefined) throw NO_ACCOUNT;
  return toPage(page, rows, ({ rank, id }) => ({ createdAt: rank, id }));
}

/** Accepts the membership or the invitation if the person has not yet, and starts the session. */
export async function chooseOrganization(
  ctx: PublicContext,
  proven: ProvenSignIn,
  organizationId: string,
): Promise<CreatedSession> {
  const choice = await requireChoice(ctx, proven, organizationId);
  const planned = await planSignIn(ctx, choice, proven.email);
  return startSession(ctx, proven.id, planned, NO_CHOICE);
}

/**
 * Deletes the open invitation, or the membership that the person has not accepted.
 * @throws Conflict if the organization cannot do without the member.
 */
export async function declineOrganization(
  ctx: PublicContext & Pick<CoreContext, "invalidateKeys">,
  proven: ProvenSignIn,
  organizationId: string,
): Promise<void> {
  const { db, ownership, clock } = ctx;
  const { email } = proven;
  const { id, accountId, role, isAccepted } = await requireChoice(ctx, proven, organizationId);
  if (accountId === null) return declineInvitation(ctx, organizationId, { id, email });
  if (isAccepted) throw CANNOT_DECLINE;
  const condition = choices.hasUnaccepted(id, email);
  const removal = { from: role, now: clock.now(), condition };
  const actor = { type: "open_id_connect", organizationId, membershipId: id, accountId } as const;
  const act = {
    action: "member.removed",
    target: { type: "member", id },
    changes: { before: { account_id: accountId, role } },
  } as const;
  const { removed, ...others } = removeMembership({ db, ownership }, organizationId, id, removal);
  const { first, guarded } = await writeBatch(
    { ...ctx, actor },
    {
      first: others,
      guarded: removed,
      acts: [act],
      effects: { account: deleteUnprovenAccount(db, accountId), closed: closePart(db) },
    },
  );
  if (guarded.length === 0) throw CANNOT_DECLINE;
  await ctx.invalidateKeys(first.keys.revoked.map((key) => toRevokedKey(key, clock)));
}

async function requireChoice(
  { db, clock }: PublicContext,
  { id, email }: ProvenSignIn,
  organizationId: string,
): Promise<Choice> {
  const { used, found } = await batch(db, {
    used: store.findUsed(db, id),
    found: choices.findChoice(db, email, clock.now(), organizationId),
  });
  if (used.length > 0) throw UNKNOWN_SIGN_IN;
  const [choice] = found;
  if (!choice) throw NO_CHOICE;
  return choice;
}

interface PlannedSignIn {
  person: { organizationId: string; membershipId: string; accountId: string };
  statements: Statements;
  records?: { members: number };
}

async function planSignIn(
  ctx: PublicContext,
  choice: Choice,
  email: string,
): Promise<PlannedSignIn> {
  const { id, organizationId, accountId, status, isAccepted } = choice;
  if (accountId === null) return acceptAsInvited(ctx, { id, email });
  const now = ctx.clock.now();
  const person = { organizationId, membershipId: id, accountId };
  if (isAccepted) return { person, statements: { signIn: store.recordSignIn(ctx.db, id, now) } };
  const actor = { type: "open_id_connect", membershipId: id, accountId } as const;
  const act = {
    action: "member.activated",
    target: { type: "member", id },
    ...(status === "pending" && { changes: { before: { status }, after: { status: "active" } } }),
  } as const;
  const accepted = choices.acceptMembership(ctx.db, id, email, now);
  const acceptance = after(accepted, (isAccepted) =>
    writeAudit({ ...ctx, actor }, organizationId, [act], isAccepted),
  );
  return { person, statements: { accepted, acceptance } };
}

/** @param signInId Starts one session at most. */
async function startSession(
  ctx: PublicContext,
  signInId: string,
  { person, statements, records }: PlannedSignIn,
  gone: ApiError,
): Promise<CreatedSession> {
  const { organizationId } = person;
  // A sign-in that waits for the callback may still become one that waits for the choice.
  const expiresAt = ctx.clock.now() + 2 * SIGN_IN_TTL_MS;
  const used = store.markUsed(ctx.db, { id: signInId, organizationId, expiresAt });
  const { created } = await startPersonSession(ctx, person, {
    before: { used, statements },
    taken: { "used_sign_ins.id": UNKNOWN_SIGN_IN },
    ...(records && { records }),
  });
  if (!created) throw gone;
  return created;
}

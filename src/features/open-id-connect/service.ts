import type { ChangedKey, ServiceContext, SystemContext } from "../../context.ts";
import { observe, type Statements } from "../../db/batch.ts";
import { mapUniqueViolation } from "../../db/constraint-errors.ts";
import { NotFound } from "../../lib/errors.ts";
import { recordActs, recordActsOf } from "../audit/index.ts";
import { acceptWithAddress, INVALID_INVITATION } from "../invitations/index.ts";
import {
  type CreatedSession,
  endSession,
  type SignInContext,
  startPersonSession,
} from "../sessions/index.ts";
import { NO_ACCOUNT, ONLY_OPEN_ID_CONNECT, type PendingSignIn, UNKNOWN_SIGN_IN } from "./model.ts";
import type { PersonMembership } from "./store.ts";
import * as store from "./store.ts";

/**
 * Starts a session for the person with the verified address: in the organization of the invitation, or in the
 * first of theirs.
 */
export async function signInWithAddress(
  ctx: SignInContext,
  pending: PendingSignIn,
  email: string,
): Promise<CreatedSession> {
  const { db } = ctx;
  const { person, statements, records } =
    pending.invitation === undefined
      ? await planSignIn(ctx, email)
      : await acceptWithAddress(ctx, pending.invitation, email);
  const { id, expiresAt } = pending;
  const { organizationId } = person;
  const before = { used: store.markUsed(db, { id, organizationId, expiresAt }), statements };
  const started = startPersonSession(ctx, person, { before, ...(records && { records }) });
  const created = await mapUniqueViolation(started, ["used_sign_ins.id"], () => UNKNOWN_SIGN_IN);
  if (!created) throw pending.invitation === undefined ? NO_ACCOUNT : INVALID_INVITATION;
  return created;
}

interface PlannedSignIn {
  person: PersonMembership;
  statements: Statements;
  records?: { members: number };
}

async function planSignIn(ctx: SignInContext, email: string): Promise<PlannedSignIn> {
  const [person] = await store.listMemberships(ctx.db, email);
  if (!person) throw NO_ACCOUNT;
  return { person, statements: activate(ctx, person) };
}

/** Signing in with its address accepts a pending membership. Changes nothing if it is active. */
function activate(
  ctx: SignInContext,
  { organizationId, membershipId, accountId }: PersonMembership,
) {
  const actor = { type: "open_id_connect", membershipId, accountId } as const;
  const act = {
    action: "member.activated",
    target: { type: "member", id: membershipId },
    changes: { before: { status: "pending" }, after: { status: "active" } },
  } as const;
  return {
    activated: store.activate(ctx.db, membershipId, ctx.clock.now()),
    activation: recordActsOf(ctx, organizationId, actor, [act]),
  };
}

/** The organizations that the session can switch to, with its own. */
export async function listOwnOrganizations({
  db,
  actor,
}: ServiceContext): Promise<PersonMembership[]> {
  const found = await store.listMembershipsOf(db, actor.membershipId);
  if (actor.session?.isOfPerson) return found;
  return found.filter(({ membershipId }) => membershipId === actor.membershipId);
}

/**
 * Ends the session, and starts one in another organization of the person. It lasts no longer.
 * @throws ApiError unless the session is from OpenID Connect and the person is a member.
 */
export async function switchOrganization(
  ctx: ServiceContext,
  organizationId: string,
): Promise<CreatedSession> {
  const { actor } = ctx;
  const { session } = actor;
  const found = await listOwnOrganizations(ctx);
  const person = found.find((each) => each.organizationId === organizationId);
  if (!person) throw new NotFound("organization");
  if (!session?.isOfPerson) throw ONLY_OPEN_ID_CONNECT;
  const { organizationId: from, membershipId } = actor;
  const ended = endSession(ctx, { organizationId: from, membershipId, id: session.id });
  let changed: ChangedKey[] = [];
  const act = { action: "session.revoked", target: { type: "session", id: session.id } } as const;
  const before = {
    ended: { ...ended, keys: observe(ended.keys, (keys) => (changed = keys)) },
    audit: recordActs(ctx, actor.organizationId, [act]),
    activated: activate(ctx, person),
  };
  const created = await startPersonSession(ctx, person, { before, expiresAt: session.expiresAt });
  await ctx.invalidateKeys(changed);
  if (!created) throw new NotFound("organization");
  return created;
}

export async function sweepUsedSignIns({ db, clock }: SystemContext): Promise<void> {
  await store.deleteExpired(db, clock.now());
}

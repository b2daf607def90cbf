import {
  INVITATION_TOKEN_PATTERN,
  type IssuedKey,
  parseCredential,
} from "../../../auth/credentials.ts";
import type { PublicContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import { ApiError, Unauthorized } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { trustsAdmins } from "../../../lib/settings.ts";
import { write } from "../../../writes/write.ts";
import { type AuditedAct, writeAudit } from "../../housekeeping/audit/index.ts";
import { issueApiKey, newKeyRow, presentAuthority } from "../api-keys/index.ts";
import { findMember, toUnprovenAccount } from "../memberships/index.ts";
import type {
  AcceptedInvitation,
  InvitationToken,
  InvitedAddress,
  Joining,
  OpenInvitation,
} from "./store.ts";
import * as store from "./store.ts";

const FIRST_KEY_NAME = "First key";
/** The name of a person whose invitation has none. */
export const NAMELESS = "New member";

/** The same for every token that is of no use, so that it tells nothing about the reason. */
export const INVALID_INVITATION = new ApiError(
  "not_found",
  "This invitation cannot be accepted: it was used or revoked, it has expired, or its link is " +
    "incomplete. Ask for a new one.",
);

export const OTHER_ADDRESS = new Unauthorized(
  "The invitation is for another e-mail address than the one that you have signed in with. Sign in with " +
    "that address, or ask for another invitation.",
);

export const SIGN_IN_ONLY = new Unauthorized(
  "This deployment accepts invitations by a sign-in with the e-mail address only.",
);

/** Changes nothing. */
export async function findInvitation(ctx: PublicContext, token: string): Promise<OpenInvitation> {
  return (await requireInvitation(ctx, token)).invitation;
}

/** Of concurrent requests with the same token, one succeeds. */
export async function acceptInvitation(
  ctx: PublicContext,
  token: string,
): Promise<AcceptedInvitation> {
  const { db, clock, settings } = ctx;
  if (!trustsAdmins(settings)) throw SIGN_IN_ONLY;
  const { presented, invitation } = await requireInvitation(ctx, token);
  const { organizationId, organizationName } = invitation;
  const issued = await issueApiKey(newId(clock));
  // The link proves no address, so the person has not signed in.
  const person = joiningOf(ctx, invitation, { signedInAt: null });
  const key = firstKeyOf(ctx, invitation, { issued, membershipId: person.membership.id });
  const joining = { ...person, key };
  const { actor, acts } = describeJoining(invitation, joining);
  const consumed = store.consumeInvitation(db, presented, clock.now());
  const member = await write(
    { ...ctx, actor },
    {
      growth: { organizationId, records: { members: 1, api_keys: 1 } },
      guarded: consumed,
      also: store.insertJoining(db, joining, consumed),
      reads: findMember(db, organizationId, joining.membership.id),
      acts,
      otherwise: () => INVALID_INVITATION,
    },
  );
  return { organizationName, member, apiKey: { row: key, key: issued.key } };
}

/**
 * The statements by which the person with the verified address accepts an invitation. They change nothing if
 * another request has accepted it.
 * @throws Unauthorized if the invitation is for another address.
 */
export async function acceptWithAddress(ctx: PublicContext, token: string, email: string) {
  const { presented, invitation } = await requireInvitation(ctx, token);
  if (invitation.email !== email) throw OTHER_ADDRESS;
  return planAcceptance(ctx, presented, invitation);
}

/** Like `acceptWithAddress`, without the link. */
export async function acceptAsInvited(ctx: PublicContext, invited: InvitedAddress) {
  const [invitation] = await store.findAcceptable(ctx.db, invited, ctx.clock.now());
  if (!invitation) throw INVALID_INVITATION;
  return planAcceptance(ctx, invited, invitation);
}

/** Deletes the open invitation of an address, whose person has signed in. */
export async function declineInvitation(
  ctx: PublicContext,
  organizationId: string,
  invited: InvitedAddress,
): Promise<void> {
  const target = { type: "invitation", id: invited.id } as const;
  const actor = { type: "open_id_connect", organizationId } as const;
  await write(
    { ...ctx, actor },
    {
      guarded: store.consumeInvitation(ctx.db, invited, ctx.clock.now()),
      acts: [{ action: "invitation.declined", target }],
      otherwise: () => INVALID_INVITATION,
    },
  );
}

function planAcceptance(
  ctx: PublicContext,
  proof: InvitationToken | InvitedAddress,
  invitation: OpenInvitation,
) {
  const { db, clock } = ctx;
  const joining = joiningOf(ctx, invitation, { signedInAt: clock.now() });
  const { account, membership } = joining;
  const { organizationId, id: membershipId } = membership;
  const { actor, acts } = describeJoining(invitation, joining);
  const consumed = store.consumeInvitation(db, proof, clock.now());
  return {
    person: { organizationId, membershipId, accountId: account.id },
    records: { members: 1 },
    statements: {
      consumed,
      joining: store.insertJoining(db, joining, consumed),
      audit: after(consumed, (isConsumed) =>
        writeAudit({ ...ctx, actor }, organizationId, acts, isConsumed),
      ),
    },
  };
}

async function requireInvitation(
  { db, clock }: Pick<PublicContext, "db" | "clock">,
  token: string,
): Promise<{ presented: InvitationToken; invitation: OpenInvitation }> {
  const presented = await parseCredential(INVITATION_TOKEN_PATTERN, token);
  if (!presented) throw INVALID_INVITATION;
  const [invitation] = await store.findAcceptable(db, presented, clock.now());
  if (!invitation) throw INVALID_INVITATION;
  return { presented, invitation };
}

function joiningOf(
  { clock }: Pick<PublicContext, "clock">,
  invitation: OpenInvitation,
  { signedInAt }: { signedInAt: number | null },
): Joining {
  const { organizationId, email, role } = invitation;
  const now = clock.now();
  const name = invitation.name ?? NAMELESS;
  const person = { email, name, displayName: null, avatar: null, profile: {} };
  const account = toUnprovenAccount(clock, person);
  const membership = {
    ...{ id: newId(clock), organizationId, accountId: account.id, role, email },
    kind: "person" as const,
    status: "active" as const,
    createdAt: now,
    updatedAt: now,
    addedByKeyId: invitation.createdByKeyId,
    addedBySessionId: invitation.createdBySessionId,
    signedInAt,
    version: 1,
  };
  return { account, membership };
}

function firstKeyOf(
  { clock }: PublicContext,
  { organizationId, role, maxKeyAgeSeconds }: OpenInvitation,
  { issued, membershipId }: { issued: IssuedKey; membershipId: string },
) {
  const now = clock.now();
  return {
    ...newKeyRow(issued, now),
    ...{ organizationId, membershipId, name: FIRST_KEY_NAME, role },
    expiresAt: maxKeyAgeSeconds === null ? null : now + maxKeyAgeSeconds * 1000,
    createdByMembershipId: membershipId,
    isOwn: true,
    expiresByPolicy: maxKeyAgeSeconds !== null,
  };
}

/** The person is the actor. */
function describeJoining(invitation: OpenInvitation, { account, membership, key }: Joining) {
  const { role, status } = membership;
  const actor = {
    type: key ? "invitation" : "open_id_connect",
    ...(key && { credentialId: invitation.id }),
    organizationId: invitation.organizationId,
    membershipId: membership.id,
    accountId: account.id,
  } as const;
  const acts: AuditedAct[] = [
    { action: "invitation.accepted", target: { type: "invitation", id: invitation.id } },
    {
      action: "member.added",
      target: { type: "member", id: membership.id, name: account.name },
      changes: { after: { account_id: account.id, role, status } },
    },
  ];
  if (key) {
    acts.push({
      action: "api_key.created",
      target: { type: "api_key", id: key.id, name: key.name },
      changes: { after: presentAuthority(key) },
    });
  }
  return { actor, acts };
}

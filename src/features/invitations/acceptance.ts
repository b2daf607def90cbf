import {
  INVITATION_TOKEN_PATTERN,
  type IssuedKey,
  parseCredential,
} from "../../auth/credentials.ts";
import type { RequestOrigin, SystemContext } from "../../context.ts";
import { runBatch } from "../../db/batch.ts";
import { ApiError, Unauthorized } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { trustsAdmins } from "../../lib/settings.ts";
import { issueApiKey, newKeyRow, presentAuthority } from "../api-keys/index.ts";
import { type AuditedAct, recordActsOf } from "../audit/index.ts";
import { findMember, toUnprovenAccount } from "../memberships/index.ts";
import { limitGrowth } from "../usage/index.ts";
import type { AcceptedInvitation, InvitationToken, Joining, OpenInvitation } from "./store.ts";
import * as store from "./store.ts";

/** The context of a request without a credential, which presents the token of an invitation. */
export interface InviteeContext extends SystemContext {
  origin: RequestOrigin;
  settings: { readonly TRUST_ADMINS?: string };
}

const FIRST_KEY_NAME = "First key";
const NAMELESS = "New member";

/** The same for every token that is of no use, so that it tells nothing about the reason. */
export const INVALID_INVITATION = new ApiError(
  "not_found",
  "This invitation cannot be accepted: it was used or revoked, it has expired, or its link is " +
    "incomplete. Ask for a new one.",
);

export const SIGN_IN_ONLY = new Unauthorized(
  "This deployment accepts invitations by a sign-in with the e-mail address only.",
);

/** Changes nothing. */
export async function findInvitation(ctx: InviteeContext, token: string): Promise<OpenInvitation> {
  return (await requireInvitation(ctx, token)).invitation;
}

/** Of concurrent requests with the same token, one succeeds. */
export async function acceptInvitation(
  ctx: InviteeContext,
  token: string,
): Promise<AcceptedInvitation> {
  const { db, clock } = ctx;
  const { presented, invitation } = await requireInvitation(ctx, token);
  const { organizationId, organizationName } = invitation;
  const issued = await issueApiKey(newId(clock));
  const joining = joiningOf(ctx, invitation, issued);
  const records = { members: 1, api_keys: 1 };
  const limits = limitGrowth(ctx, { organizationId, records });
  const statements = {
    limits: limits.statement,
    consumed: store.consumeInvitation(db, presented, clock.now()),
    joining: store.insertJoining(db, joining),
    audit: recordJoining(ctx, invitation, joining),
    found: findMember(db, organizationId, joining.membership.id),
  };
  const { found } = await limits.enforce(runBatch(db, statements));
  const [member] = found;
  if (!member) throw INVALID_INVITATION;
  return { organizationName, member, apiKey: { row: joining.key, key: issued.key } };
}

async function requireInvitation(
  { db, clock, settings }: InviteeContext,
  token: string,
): Promise<{ presented: InvitationToken; invitation: OpenInvitation }> {
  if (!trustsAdmins(settings)) throw SIGN_IN_ONLY;
  const presented = await parseCredential(INVITATION_TOKEN_PATTERN, token);
  if (!presented) throw INVALID_INVITATION;
  const [invitation] = await store.findInvitationByToken(db, presented, clock.now());
  if (!invitation) throw INVALID_INVITATION;
  return { presented, invitation };
}

function joiningOf(
  { clock }: InviteeContext,
  invitation: OpenInvitation,
  issued: IssuedKey,
): Joining {
  const { organizationId, email, role, maxKeyAgeSeconds } = invitation;
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
    recordVersion: 1,
  };
  const key = {
    ...newKeyRow(issued, now),
    ...{ organizationId, membershipId: membership.id, name: FIRST_KEY_NAME, role },
    expiresAt: maxKeyAgeSeconds === null ? null : now + maxKeyAgeSeconds * 1000,
    narrowedExpiresAt: null,
    createdByMembershipId: membership.id,
    isOwn: true,
  };
  return { account, membership, key };
}

function recordJoining(
  ctx: InviteeContext,
  invitation: OpenInvitation,
  { account, membership, key }: Joining,
) {
  const { role, status } = membership;
  const actor = {
    type: "invitation",
    credentialId: invitation.id,
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
    {
      action: "api_key.created",
      target: { type: "api_key", id: key.id, name: key.name },
      changes: { after: presentAuthority(key) },
    },
  ];
  return recordActsOf(ctx, invitation.organizationId, actor, acts);
}

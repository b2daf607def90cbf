import { after, batch, type Statements } from "../../db/batch.ts";
import { newId } from "../../lib/ids.ts";
import { issueApiKey, newKeyRow } from "../api-keys/index.ts";
import { recordActsOf } from "../audit/index.ts";
import { limitGrowth } from "../usage/index.ts";
import { issueSession } from "./credentials.ts";
import { SESSION_TTL_MS } from "./model.ts";
import {
  type CreatedSession,
  describeCreation,
  type SignInContext,
  toCreated,
} from "./sign-in-service.ts";
import * as store from "./store.ts";

/** A membership of the person who has signed in by OpenID Connect. */
export interface SignedInPerson {
  organizationId: string;
  membershipId: string;
  accountId: string;
}

/**
 * Starts a session with all that the membership may do, in one batch after `before`. Undefined if the
 * membership does not exist or is not active.
 * @param options.expiresAt At the latest. Default: after the longest time of a session.
 * @param options.continues The session that it continues.
 * @param options.records By how much `before` increases what is counted.
 */
export async function startPersonSession(
  ctx: SignInContext,
  person: SignedInPerson,
  options: {
    before: Statements;
    expiresAt?: number;
    continues?: { id: string };
    records?: { members: number };
  },
): Promise<CreatedSession | undefined> {
  const { db, clock, origin } = ctx;
  const { organizationId, membershipId } = person;
  const now = clock.now();
  const [issued, issuedKey] = await Promise.all([
    issueSession(newId(clock)),
    issueApiKey(newId(clock)),
  ]);
  const { id, secretHash } = issued;
  const session = {
    ...{ id, secretHash, organizationId, membershipId, keyId: issuedKey.id },
    source: "open_id_connect" as const,
    createdBySessionId: options.continues?.id ?? null,
    userAgent: origin.userAgent,
    createdAt: now,
    expiresAt: options.expiresAt ?? now + SESSION_TTL_MS,
  };
  const key = { ...newKeyRow(issuedKey, now), organizationId, membershipId, sessionId: id };
  const limits = limitGrowth(ctx, {
    organizationId,
    bounds: [store.sessionCountBound(membershipId)],
    ...(options.records && { records: options.records }),
  });
  const { accountId } = person;
  const actor = { type: "open_id_connect", membershipId, accountId } as const;
  const created = store.insertSession(db, session);
  const acts = [describeCreation(session)];
  const statements = {
    ended: store.deleteEnded(db, membershipId, now),
    limits: limits.statement,
    before: options.before,
    key: store.insertKeyOfSession(db, key),
    created,
    audit: after(created, (hasChanged) =>
      recordActsOf(ctx, organizationId, actor, acts, hasChanged),
    ),
  };
  const results = await limits.enforce(batch(db, statements));
  return toCreated(results.created, issued, now);
}

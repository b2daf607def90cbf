import {
  type IssuedKey,
  parseCredential,
  SIGN_IN_TOKEN_PATTERN,
} from "../../../auth/credentials.ts";
import type { PublicContext } from "../../../context.ts";
import { ApiError, BadInput, Unauthenticated } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { write } from "../../../writes/write.ts";
import type { AuditedAct } from "../../housekeeping/audit/index.ts";
import { apiKeyStore, parseApiKey } from "../api-keys/index.ts";
import { issueSession } from "./credentials.ts";
import type { SignInToken, UsableLink } from "./link-store.ts";
import * as links from "./link-store.ts";
import { SESSION_TTL_MS } from "./model.ts";
import type { NewSession, SessionRow } from "./store.ts";
import * as store from "./store.ts";

export interface CreatedSession {
  row: SessionRow;
  /** For the cookie. */
  secret: string;
  maxAgeSeconds: number;
}

/** The same for every key that is of no use, so that it tells nothing about the reason. */
export const INVALID_API_KEY = new Unauthenticated(
  "Send a valid API key (lsh_…) in api_key: it is mistyped, revoked or expired, or it is another kind " +
    "of credential.",
);

/** The same for every token that is of no use, so that it tells nothing about the reason. */
export const INVALID_LINK = new ApiError(
  "not_found",
  "This link does not sign in: it was used or has expired, its key was revoked, or the link is " +
    "incomplete. Create another with POST /v1/sign-in-links, or sign in with an API key.",
);

export const NO_SESSIONS_HERE = new BadInput([
  {
    path: "",
    message: "Sign in over https, or at localhost: a session's cookie needs one of them.",
  },
]);

export async function signInWithKey(ctx: PublicContext, text: string): Promise<CreatedSession> {
  const { db, clock } = ctx;
  const presented = await parseApiKey(text);
  const actor = presented && (await apiKeyStore.find(db, presented));
  const now = clock.now();
  if (!actor || (actor.expiresAt ?? Number.POSITIVE_INFINITY) <= now) throw INVALID_API_KEY;
  const { keyId, membershipId, organizationId } = actor;
  const owner = { keyId, membershipId, organizationId, createdBySessionId: null };
  const issued = await issueSession(newId(clock));
  const expiresAt = now + SESSION_TTL_MS;
  const session = newSession(ctx, issued, { ...owner, source: "api_key", expiresAt });
  const row = await write(
    { ...ctx, actor },
    {
      ...additionOf(ctx, session),
      guarded: store.insertSession(db, session),
      otherwise: () => INVALID_API_KEY,
    },
  );
  return toCreated(row, issued, now);
}

/** Changes nothing. */
export async function findSignIn(ctx: PublicContext, token: string): Promise<UsableLink> {
  return (await requireLink(ctx, token)).link;
}

/** Of concurrent requests with the same token, one succeeds. */
export async function signInWithLink(ctx: PublicContext, token: string): Promise<CreatedSession> {
  const { db, clock } = ctx;
  const { presented, link } = await requireLink(ctx, token);
  const { keyId, membershipId, organizationId, accountId, sessionExpiresAt } = link;
  const { createdBySessionId } = link;
  const now = clock.now();
  const issued = await issueSession(newId(clock));
  const expiresAt = Math.min(now + SESSION_TTL_MS, sessionExpiresAt ?? Number.POSITIVE_INFINITY);
  const owner = { keyId, membershipId, organizationId, createdBySessionId };
  const session = newSession(ctx, issued, { ...owner, source: "sign_in_link", expiresAt });
  const actor = {
    type: "sign_in_link",
    credentialId: link.id,
    organizationId,
    membershipId,
    accountId,
    creatorKeyId: keyId,
    creatorMembershipId: membershipId,
  } as const;
  const consumed = links.consumeLink(db, presented, now);
  const row = await write(
    { ...ctx, actor },
    {
      ...additionOf(ctx, session),
      first: { consumed },
      guarded: store.insertSessionOfLink(db, session, consumed),
      otherwise: () => INVALID_LINK,
    },
  );
  return toCreated(row, issued, now);
}

async function requireLink(
  { db, clock }: PublicContext,
  token: string,
): Promise<{ presented: SignInToken; link: UsableLink }> {
  const presented = await parseCredential(SIGN_IN_TOKEN_PATTERN, token);
  if (!presented) throw INVALID_LINK;
  const [link] = await links.findLink(db, presented, clock.now());
  if (!link) throw INVALID_LINK;
  return { presented, link };
}

function newSession<
  Owner extends Pick<NewSession, "keyId" | "createdBySessionId" | "source" | "expiresAt">,
>({ clock, origin }: PublicContext, { id, secretHash }: IssuedKey, owner: Owner) {
  return { ...owner, id, secretHash, userAgent: origin.userAgent, createdAt: clock.now() };
}

/** What the creation of a session deletes before, adds, and records. */
export function additionOf({ db, clock }: PublicContext, session: NewSession) {
  const { organizationId, membershipId } = session;
  return {
    lapsed: store.deleteEnded(db, membershipId, clock.now()),
    growth: {
      organizationId,
      bounds: [store.sessionCountBound(membershipId)],
      isTemporary: true,
    },
    acts: [describeCreation(session)],
  };
}

function describeCreation({ id, source, keyId }: NewSession): AuditedAct {
  return {
    action: "session.created",
    target: { type: "session", id },
    changes: { after: source === "open_id_connect" ? { source } : { source, key_id: keyId } },
  };
}

/** For the response. */
export function toCreated(
  row: SessionRow,
  { key: secret }: IssuedKey,
  now: number,
): CreatedSession {
  return { row, secret, maxAgeSeconds: Math.floor((row.expiresAt - now) / 1000) };
}

import { toLastUse, toTimestamp } from "../../../lib/clock.ts";
import type { CreatedSignInLink } from "./link-store.ts";
import { SIGN_IN_PATH } from "./model.ts";
import type { EndedSession, ListedSession, SessionRow } from "./store.ts";

type PresentedSession = Omit<ListedSession, "keyExpiresAt"> & { keyExpiresAt?: number | null };

/** @param currentId Of the session of the request, if it has one. */
export function presentSession(row: PresentedSession, currentId: string | undefined) {
  const { keyExpiresAt } = row;
  const end = Math.min(row.expiresAt, keyExpiresAt ?? Number.POSITIVE_INFINITY);
  return {
    id: row.id,
    source: row.source,
    key_id: row.source === "open_id_connect" ? undefined : (row.keyId ?? undefined),
    user_agent: row.userAgent ?? undefined,
    current: row.id === currentId,
    expires_at: toTimestamp(end),
    last_used_at: toLastUse(row),
    created_at: toTimestamp(row.createdAt),
  };
}

export function presentOwnSession(
  row: ListedSession,
  { actor }: { actor: { session?: { id: string } } },
) {
  return presentSession(row, actor.session?.id);
}

/** For an admin. */
export function presentMemberSession(row: ListedSession | EndedSession) {
  if (!("endedAt" in row)) {
    const { current: _, ...session } = presentSession(row, undefined);
    return session;
  }
  return {
    id: row.id,
    source: row.source,
    key_id: row.source === "open_id_connect" ? undefined : (row.keyId ?? undefined),
    created_at: toTimestamp(row.createdAt),
    ended_at: toTimestamp(row.endedAt),
  };
}

/** The session that the response to a sign-in starts. */
export function presentNewSession(row: SessionRow) {
  return presentSession(row, row.id);
}

export function presentSignInLink({ row, token, origin }: CreatedSignInLink) {
  return { url: `${origin}${SIGN_IN_PATH}/${token}`, expires_at: toTimestamp(row.expiresAt) };
}

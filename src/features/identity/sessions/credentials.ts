import type { CredentialStore, Principal } from "../../../auth/credential-cache.ts";
import {
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
  SESSION_PATTERN,
} from "../../../auth/credentials.ts";
import { type KeyPrincipal, toActor } from "../api-keys/index.ts";
import { SESSION_IDLE_MS, USE_INTERVAL_MS } from "./model.ts";
import { findPrincipal, saveUse } from "./store.ts";

export function issueSession(id: string): Promise<IssuedKey> {
  return issueCredential("lss", id);
}

/** Checks the form and the checksum only; undefined if they are wrong. */
export function parseSession(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(SESSION_PATTERN, text);
}

/** Has the authority of its key, and the version of that key: what changes the key changes it, too. */
export interface SessionPrincipal extends KeyPrincipal {
  session: NonNullable<Principal["session"]> & { createdAt: number };
}

export const sessionStore: CredentialStore<SessionPrincipal> = {
  async find(db, presented) {
    const [row] = await findPrincipal(db, { id: presented.id, secretHash: presented.secretHash });
    if (!row) return undefined;
    const { sessionId, sessionCreatedAt, sessionExpiresAt, source, keySecretHash, ...key } = row;
    return {
      ...toActor(key),
      session: {
        id: sessionId,
        createdAt: sessionCreatedAt,
        expiresAt: sessionExpiresAt,
        isOfPerson: source === "open_id_connect",
        keySecretHash,
      },
    };
  },
  endOf({ session, lastUsedAt, expiresAt }) {
    const idleEnd = (lastUsedAt ?? session.createdAt) + SESSION_IDLE_MS;
    return Math.min(idleEnd, session.expiresAt, expiresAt ?? Number.POSITIVE_INFINITY);
  },
  useToSave({ lastUsedAt }, now) {
    return lastUsedAt === null || now - lastUsedAt >= USE_INTERVAL_MS ? now : undefined;
  },
  async saveUse(db, { session }, time) {
    await saveUse(db, session.id, time);
  },
};

import { type CredentialStore, HOURLY_USE, type Principal } from "../../auth/credential-cache.ts";
import {
  API_KEY_PATTERN,
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
} from "../../auth/credentials.ts";
import type { Actor } from "../../context.ts";
import { lowerOrgRole } from "../../lib/roles.ts";
import { findPrincipal, recordUse } from "./store.ts";

export function issueApiKey(id: string): Promise<IssuedKey> {
  return issueCredential("lsh", id);
}

/** Checks the form and the checksum only; undefined if they are wrong. */
export function parseApiKey(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(API_KEY_PATTERN, text);
}

export interface KeyPrincipal extends Actor, Principal {
  session?: NonNullable<Principal["session"]>;
}

export const apiKeyStore: CredentialStore<KeyPrincipal> = {
  async find(db, key) {
    const [row] = await findPrincipal(db, { id: key.id, secretHash: key.secretHash });
    if (!row) return undefined;
    const { keyRole, membershipRole, ...rest } = row;
    return { ...rest, role: lowerOrgRole(keyRole, membershipRole) };
  },
  ...HOURLY_USE,
  async recordUse(db, { keyId }, hour) {
    await recordUse(db, keyId, hour);
  },
};

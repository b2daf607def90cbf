import type { Actor } from "../../../actor.ts";
import {
  type CredentialStore,
  HOURLY_USE,
  type Principal,
} from "../../../auth/credential-cache.ts";
import {
  API_KEY_PATTERN,
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
} from "../../../auth/credentials.ts";
import { lowerOrgRole, type OrgRole } from "../../../lib/roles.ts";
import { findPrincipal, saveUse } from "./store.ts";

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

interface StoredAuthority {
  keyRole: OrgRole;
  membershipRole: OrgRole;
  expiresByPolicy: boolean;
}

type ActorOfRow<Row> = Omit<Row, keyof StoredAuthority> & Pick<Actor, "role" | "isFull">;

/** From a row with `KEY_AUTHORITY` and the role of the membership. */
export function toActor<Row extends StoredAuthority & Omit<Actor, "role" | "isFull">>(
  row: Row,
): ActorOfRow<Row> {
  const { keyRole, membershipRole, expiresByPolicy, ...rest } = row;
  const role = lowerOrgRole(keyRole, membershipRole);
  const isNarrowed = (row.scopes ?? row.projectIds ?? row.environmentIds) !== null;
  const isLasting = row.expiresAt === null || expiresByPolicy;
  return {
    ...rest,
    role,
    isFull: row.isOwnKey && !isNarrowed && isLasting && role === membershipRole,
  };
}

export const apiKeyStore: CredentialStore<KeyPrincipal> = {
  async find(db, key) {
    const [row] = await findPrincipal(db, { id: key.id, secretHash: key.secretHash });
    return row && toActor(row);
  },
  ...HOURLY_USE,
  async saveUse(db, { keyId }, hour) {
    await saveUse(db, keyId, hour);
  },
};

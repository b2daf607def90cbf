import type { CredentialStore, Principal } from "../../auth/credential-cache.ts";
import type { Actor } from "../../context.ts";
import { lowerOrgRole } from "../../lib/roles.ts";
import { findPrincipal, recordUse } from "./store.ts";

/** An API key that exists, as it was when it was read. */
export interface KeyPrincipal extends Actor, Principal {}

/** Where API keys are looked up. */
export const apiKeyStore: CredentialStore<KeyPrincipal> = {
  async find(db, key) {
    const [row] = await findPrincipal(db, { id: key.id, secretHash: key.secretHash });
    if (!row) return undefined;
    const { keyRole, membershipRole, ...rest } = row;
    return { ...rest, role: lowerOrgRole(keyRole, membershipRole) };
  },
  async recordUse(db, id, hour) {
    await recordUse(db, id, hour);
  },
};

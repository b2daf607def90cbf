import type { CredentialStore, Principal } from "../../auth/credential-cache.ts";
import type { Runner } from "../../context.ts";
import { findTokenPrincipal, recordTokenUse } from "./store.ts";

/** A runner token that exists, as it was when it was read. */
export interface RunnerPrincipal extends Runner, Principal {}

/** Where runner tokens are looked up. They do not expire. */
export const runnerTokenStore: CredentialStore<RunnerPrincipal> = {
  async find(db, token) {
    const [row] = await findTokenPrincipal(db, token.id, token.secretHash);
    return row && { ...row, expiresAt: null };
  },
  async recordUse(db, id, hour) {
    await recordTokenUse(db, id, hour);
  },
};

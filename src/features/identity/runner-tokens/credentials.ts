import type { Runner } from "../../../actor.ts";
import {
  type CredentialStore,
  HOURLY_USE,
  type Principal,
} from "../../../auth/credential-cache.ts";
import {
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
  RUNNER_TOKEN_PATTERN,
} from "../../../auth/credentials.ts";
import { findTokenPrincipal, saveTokenUse } from "./store.ts";

export function issueRunnerToken(id: string): Promise<IssuedKey> {
  return issueCredential("lsr", id);
}

/** Checks the prefix only: the token may still be invalid. */
export function looksLikeRunnerToken(text: string | null): boolean {
  return text?.startsWith("lsr_") === true;
}

/** Checks the form and the checksum only; undefined if they are wrong. */
export function parseRunnerToken(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(RUNNER_TOKEN_PATTERN, text);
}

export interface RunnerPrincipal extends Runner, Principal {}

export const runnerTokenStore: CredentialStore<RunnerPrincipal> = {
  async find(db, token) {
    const [row] = await findTokenPrincipal(db, token.id, token.secretHash);
    return row && { ...row, consumerId: row.poolId };
  },
  ...HOURLY_USE,
  async saveUse(db, { keyId }, hour) {
    await saveTokenUse(db, keyId, hour);
  },
};

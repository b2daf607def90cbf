import {
  credentialPattern,
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
} from "../../lib/credentials.ts";

export const RUNNER_TOKEN_PATTERN = credentialPattern("lsr");

/** Makes a runner token of this ID, with a fresh secret. */
export function issueRunnerToken(id: string): Promise<IssuedKey> {
  return issueCredential("lsr", id);
}

/** Reads a runner token without asking anybody; undefined if it was mistyped or made up. */
export function parseRunnerToken(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(RUNNER_TOKEN_PATTERN, text);
}

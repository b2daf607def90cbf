import {
  credentialPattern,
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
} from "../../auth/credentials.ts";

export const RUNNER_TOKEN_PATTERN = credentialPattern("lsr");

/** Makes a runner token of this ID, with a fresh secret. */
export function issueRunnerToken(id: string): Promise<IssuedKey> {
  return issueCredential("lsr", id);
}

/** Whether a credential says of itself that it is a runner token, be it one or not. */
export function seemsRunnerToken(text: string | null): boolean {
  return text?.startsWith("lsr_") === true;
}

/** Reads a runner token without asking anybody; undefined if it was mistyped or made up. */
export function parseRunnerToken(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(RUNNER_TOKEN_PATTERN, text);
}

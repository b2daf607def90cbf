import {
  credentialPattern,
  type IssuedKey,
  issueCredential,
  type PresentedKey,
  parseCredential,
} from "../../auth/credentials.ts";

export const API_KEY_PATTERN = credentialPattern("lsh");

/** Makes an API key of this ID, with a fresh secret. */
export function issueApiKey(id: string): Promise<IssuedKey> {
  return issueCredential("lsh", id);
}

/** Reads an API key without asking anybody; undefined if it was mistyped or made up. */
export function parseApiKey(text: string): Promise<PresentedKey | undefined> {
  return parseCredential(API_KEY_PATTERN, text);
}

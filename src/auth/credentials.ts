import type { ChangedKey } from "../context.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256, sha256Hex } from "../lib/digest.ts";
import { BASE62, encodeRadix, toBigInt } from "../lib/radix.ts";

const SECRET_BYTES = 32;
const SECRET_WIDTH = 43;
const CHECKSUM_BYTES = 4;
const CHECKSUM_WIDTH = 6;
const LAST_FOUR = -4;

/** `lsh` is an API key, `lsr` a runner token, `lsi` an invitation, `lss` a session, `lsl` a sign-in link. */
export type CredentialPrefix = "lsh" | "lsr" | "lsi" | "lss" | "lsl";

/** Well-formed, but may not exist. */
export interface PresentedKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secretHash: string;
}

export interface IssuedKey extends PresentedKey {
  /** In plain text. It is returned once and never stored. */
  key: string;
  lastFour: string;
}

/** Prefix, ID of the credential, 256-bit secret, and a checksum of the preceding characters. */
function credentialPattern(prefix: CredentialPrefix): RegExp {
  return new RegExp(`^${prefix}_([1-9A-HJ-NP-Za-km-z]{22})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$`);
}

export const API_KEY_PATTERN = credentialPattern("lsh");
export const RUNNER_TOKEN_PATTERN = credentialPattern("lsr");
export const INVITATION_TOKEN_PATTERN = credentialPattern("lsi");
export const SESSION_PATTERN = credentialPattern("lss");
export const SIGN_IN_TOKEN_PATTERN = credentialPattern("lsl");

export async function issueCredential(prefix: CredentialPrefix, id: string): Promise<IssuedKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = encodeRadix(toBigInt(bytes), BASE62, SECRET_WIDTH);
  const unchecked = `${prefix}_${id}_${secret}`;
  const key = `${unchecked}${await checksum(unchecked)}`;
  return { id, key, secretHash: await sha256Hex(secret), lastFour: key.slice(LAST_FOUR) };
}

/** Undefined if the form or the checksum is wrong, which detects most typing errors. */
export async function parseCredential(
  pattern: RegExp,
  text: string,
): Promise<PresentedKey | undefined> {
  const [, id, secret, check] = pattern.exec(text) ?? [];
  if (!id || !secret || !check) return undefined;
  const unchecked = text.slice(0, -CHECKSUM_WIDTH);
  if ((await checksum(unchecked)) !== check) return undefined;
  return { id, secretHash: await sha256Hex(secret) };
}

/**
 * What the rate limiter of a deleted credential receives. The version is a time: if a restore brings
 * the row back, later changes of its counted version never reach it.
 */
export function toRevokedKey({ secretHash, version }: ChangedKey, clock: Clock): ChangedKey {
  return { secretHash, version: Math.max(clock.now(), version + 1) };
}

async function checksum(text: string): Promise<string> {
  const digest = new Uint8Array(await sha256(text), 0, CHECKSUM_BYTES);
  return encodeRadix(toBigInt(digest), BASE62, CHECKSUM_WIDTH);
}

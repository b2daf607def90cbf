import { sha256, sha256Hex } from "../lib/digest.ts";
import { BASE62, encodeRadix, toBigInt } from "../lib/radix.ts";

const SECRET_BYTES = 32;
const SECRET_WIDTH = 43;
const CHECKSUM_BYTES = 4;
const CHECKSUM_WIDTH = 6;
const LAST_FOUR = -4;

/** What each kind of credential begins with: an API key, and a runner token. */
export type CredentialPrefix = "lsh" | "lsr";

/** A credential that a caller presented; its form is right, and nothing more is known of it. */
export interface PresentedKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secretHash: string;
}

export interface IssuedKey extends PresentedKey {
  /** The credential itself, to be shown once. */
  key: string;
  lastFour: string;
}

/** The prefix, the credential's ID, a secret of 256 bits, and a checksum over all before it. */
export function credentialPattern(prefix: CredentialPrefix): RegExp {
  return new RegExp(`^${prefix}_([1-9A-HJ-NP-Za-km-z]{22})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$`);
}

/** Makes a credential of this ID, with a fresh secret of 256 bits. */
export async function issueCredential(prefix: CredentialPrefix, id: string): Promise<IssuedKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = encodeRadix(toBigInt(bytes), BASE62, SECRET_WIDTH);
  const unchecked = `${prefix}_${id}_${secret}`;
  const key = `${unchecked}${await checksum(unchecked)}`;
  return { id, key, secretHash: await sha256Hex(secret), lastFour: key.slice(LAST_FOUR) };
}

/** Reads a credential without asking anybody; undefined if it was mistyped or made up. */
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

async function checksum(text: string): Promise<string> {
  const digest = await sha256(text);
  return encodeRadix(toBigInt(digest.subarray(0, CHECKSUM_BYTES)), BASE62, CHECKSUM_WIDTH);
}

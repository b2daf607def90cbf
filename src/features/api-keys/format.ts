import { sha256, sha256Hex } from "../../lib/digest.ts";
import { BASE62, encodeRadix, toNumber } from "../../lib/radix.ts";

const SECRET_BYTES = 32;
const SECRET_WIDTH = 43;
const CHECKSUM_BYTES = 4;
const CHECKSUM_WIDTH = 6;
const LAST_FOUR = -4;

/** `lsh_`, the key's ID, `_`, a secret of 256 bits, and a checksum over all before it. */
export const API_KEY_PATTERN = /^lsh_([1-9A-HJ-NP-Za-km-z]{22})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;

/** A key that a caller presented; its form is right, and nothing more is known of it. */
export interface PresentedKey {
  id: string;
  /** SHA-256 of the secret, hexadecimal. */
  secretHash: string;
}

export interface IssuedKey extends PresentedKey {
  /** The key itself, to be shown once. */
  key: string;
  lastFour: string;
}

/** Makes a key of this ID, with a fresh secret of 256 bits. */
export async function issueApiKey(id: string): Promise<IssuedKey> {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = encodeRadix(toNumber(bytes), BASE62, SECRET_WIDTH);
  const unchecked = `lsh_${id}_${secret}`;
  const key = `${unchecked}${await checksum(unchecked)}`;
  return { id, key, secretHash: await sha256Hex(secret), lastFour: key.slice(LAST_FOUR) };
}

/** Reads a key without asking anybody; undefined if it was mistyped or made up. */
export async function parseApiKey(text: string): Promise<PresentedKey | undefined> {
  const [, id, secret, check] = API_KEY_PATTERN.exec(text) ?? [];
  if (!id || !secret || !check) return undefined;
  const unchecked = text.slice(0, -CHECKSUM_WIDTH);
  if ((await checksum(unchecked)) !== check) return undefined;
  return { id, secretHash: await sha256Hex(secret) };
}

async function checksum(text: string): Promise<string> {
  const digest = await sha256(text);
  return encodeRadix(toNumber(digest.subarray(0, CHECKSUM_BYTES)), BASE62, CHECKSUM_WIDTH);
}

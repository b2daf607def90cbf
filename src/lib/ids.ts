import type { Clock } from "./clock.ts";
import { BASE58, encodeRadix, toBigInt } from "./radix.ts";

const WIDTH = 22;
/** Of a UUIDv7, in the first 64 bits and in the ninth byte. */
const VERSION = 0x7000n;
const VARIANT = 0x80;
const SHORT = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
const HEX = /^[0-9a-f]{32}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const IDENTIFIER_PATTERN =
  /^([1-9A-HJ-NP-Za-km-z]{22}|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

/** A new UUIDv7 (RFC 9562, section 5.7) in the 22-character form. IDs sort by time. */
export function newId(clock: Clock): string {
  const uuid = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(uuid.buffer);
  const random = BigInt(view.getUint16(6) & 0x0fff);
  view.setBigUint64(0, (BigInt(clock.now()) << 16n) | VERSION | random);
  view.setUint8(8, VARIANT | (view.getUint8(8) & 0x3f));
  return encodeId(uuid);
}

/** Sorts after the IDs of resources that were created before `time`, and before all later ones. */
export function firstIdAt(time: number): string {
  const uuid = new Uint8Array(16);
  new DataView(uuid.buffer).setBigUint64(0, BigInt(time) << 16n);
  return encodeId(uuid);
}

/** When the resource with this UUIDv7 was created. */
export function timeOf(id: string): number {
  let uuid = 0n;
  for (const digit of id) uuid = uuid * 58n + BigInt(BASE58.indexOf(digit));
  return Number(uuid >> 80n);
}

/** The 22-character form of a UUID's 16 bytes. */
export function encodeId(uuid: Uint8Array): string {
  return encodeRadix(toBigInt(uuid), BASE58, WIDTH);
}

/**
 * The 22-character form of an ID in any of its three forms; undefined for another text. Does not
 * check that 22 characters are at most 128 bits: no resource has a larger ID.
 */
export function canonicalId(text: string): string | undefined {
  if (SHORT.test(text)) return text;
  if (!HEX.test(text) && !UUID.test(text)) return undefined;
  return encodeRadix(BigInt(`0x${text.replaceAll("-", "")}`), BASE58, WIDTH);
}

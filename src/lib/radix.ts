/** The digits of an ID (docs/api.md, "Identifiers"), in ASCII order. */
export const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Big-endian bytes as one unsigned integer. */
export function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

/** By the value of the byte. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/**
 * `value` with the digits of `alphabet`, left-padded with its zero digit to `width` characters. If
 * the alphabet is in ASCII order, texts of the same width sort like their values.
 */
export function encodeRadix(value: bigint, alphabet: string, width: number): string {
  const radix = BigInt(alphabet.length);
  let text = "";
  for (let rest = value; rest > 0n; rest /= radix) {
    text = alphabet.charAt(Number(rest % radix)) + text;
  }
  return text.padStart(width, alphabet.charAt(0));
}

import { toHex } from "./radix.ts";

const encoder = new TextEncoder();
/** For short texts: a new array takes longer than the digest. Web Crypto copies its input before it returns. */
const scratch = new Uint8Array(4_096);

export function sha256(input: string | ArrayBuffer): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", typeof input === "string" ? encode(input) : input);
}

function encode(text: string): Uint8Array {
  if (text.length > scratch.length) return encoder.encode(text);
  const { read, written } = encoder.encodeInto(text, scratch);
  return read === text.length ? scratch.subarray(0, written) : encoder.encode(text);
}

export async function sha256Hex(input: string | ArrayBuffer): Promise<string> {
  return toHex(new Uint8Array(await sha256(input)));
}

/** HMAC-SHA-256 (RFC 2104) of `text` in UTF-8, in lowercase. */
export async function hmacHex(secret: string, text: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, [
    "sign",
  ]);
  return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))));
}

export async function equalInConstantTime(a: string, b: string): Promise<boolean> {
  // Hashed, because `timingSafeEqual` throws if the lengths differ.
  const [left, right] = await Promise.all([sha256(a), sha256(b)]);
  return crypto.subtle.timingSafeEqual(left, right);
}

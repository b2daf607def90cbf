import { sha256 as digestAtOnce } from "@noble/hashes/sha2.js";
import { toHex } from "./radix.ts";

const encoder = new TextEncoder();
/** A call of Web Crypto costs as much as this many bytes in JavaScript. */
const WEB_CRYPTO_BYTES = 4_096;

export async function sha256(input: string | ArrayBuffer): Promise<Uint8Array> {
  const bytes = typeof input === "string" ? encoder.encode(input) : new Uint8Array(input);
  if (bytes.length < WEB_CRYPTO_BYTES) return digestAtOnce(bytes);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export async function sha256Hex(input: string | ArrayBuffer): Promise<string> {
  return toHex(await sha256(input));
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

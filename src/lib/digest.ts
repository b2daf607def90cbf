import { toHex } from "./radix.ts";

const encoder = new TextEncoder();

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** SHA-256 of the UTF-8 of `text`, 64 lowercase hexadecimal digits. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await sha256(text));
}

/** Whether two texts are equal, in a time that tells nothing about where they differ. */
export async function equalInConstantTime(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([sha256(a), sha256(b)]);
  return crypto.subtle.timingSafeEqual(left, right);
}

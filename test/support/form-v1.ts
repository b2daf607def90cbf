import type { EncryptionContext } from "../../src/lib/cipher.ts";

/**
 * Seals a text without a form marker and without its owners, which `Cipher` only opens. Such texts, which
 * this must equal, are in test/properties/cipher.test.ts.
 *
 * @param key The first key of a keyring: `id:base64`.
 */
export async function sealInFormV1(
  key: string,
  text: string,
  { table, row, organizationId }: EncryptionContext,
): Promise<string> {
  const [id = "", base64 = ""] = key.split(":");
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const info = new TextEncoder().encode(JSON.stringify([table, row, organizationId]));
  const master = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  const dataKey = await crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
    master,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt"],
  );
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv, additionalData: info },
    dataKey,
    new TextEncoder().encode(text),
  );
  return `${id}.${btoa(String.fromCharCode(...iv, ...new Uint8Array(sealed)))}`;
}

const KEY_BYTES = 32;
const IV_BYTES = 12;
const KEYRING_ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const SEALED = /^([A-Za-z0-9_-]{1,32})\.(?:(v2)\.)?([A-Za-z0-9+/]+=*)$/;

/**
 * How a text is sealed, as the text itself states. `v1` has no marker and no owners; it is only
 * opened, until key rotation has sealed the text again.
 */
type Form = "v1" | "v2";
const FORM: Form = "v2";

/** A sealed text opens only with the context that sealed it. */
export interface EncryptionContext {
  table: string;
  row: string;
  organizationId: string;
  /** The IDs of the row's owners, which decide who may read it, in an order that never changes. */
  owners: readonly (string | null)[];
}

/** A sealed text was altered, belongs to another context, or needs a key that the keyring lacks. */
export class DecryptionError extends Error {
  constructor(reason: string) {
    super(`A sealed text cannot be opened: ${reason}`);
  }
}

interface MasterKey {
  id: string;
  key: CryptoKey;
}

/**
 * Authenticated encryption of single values: AES-256-GCM (NIST SP 800-38D) with a new 96-bit IV for
 * each value, and a data key for each row that HKDF-SHA-256 (RFC 5869) derives from a master key.
 * The form and the context are additional authenticated data. A sealed text is the ID of its master
 * key, its form and base64 of IV, ciphertext and tag, separated by `.`. The ID lets values stay
 * readable while the keys change.
 */
export class Cipher {
  readonly #keys: ReadonlyMap<string, MasterKey>;
  readonly #current: MasterKey;

  private constructor(keys: readonly [MasterKey, ...MasterKey[]]) {
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    [this.#current] = keys;
  }

  /** The first key of the keyring encrypts; all keys decrypt. Throws if it is malformed. */
  static async of(keyring: string): Promise<Cipher> {
    const [first, ...rest] = await Promise.all(parseKeyring(keyring).map(importMasterKey));
    if (!first) throw new Error("The keyring is empty");
    return new Cipher([first, ...rest]);
  }

  get currentKeyId(): string {
    return this.#current.id;
  }

  /** The beginning of every text that `seal` returns, and of no other. */
  get currentPrefix(): string {
    return `${this.#current.id}.${FORM}.`;
  }

  /** Throws `TypeError` if the text has lone surrogates, which UTF-8 cannot represent. */
  async seal(text: string, context: EncryptionContext): Promise<string> {
    if (!text.isWellFormed()) throw new TypeError("A text with lone surrogates cannot be sealed");
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const info = contextBytes(FORM, context);
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData: info },
      await deriveDataKey(this.#current, info),
      encoder.encode(text),
    );
    return this.currentPrefix + toBase64(iv, new Uint8Array(sealed));
  }

  /** Throws `DecryptionError` if the text cannot be opened. */
  async open(sealed: string, context: EncryptionContext): Promise<string> {
    const [, keyId = "", marker, payload = ""] = SEALED.exec(sealed) ?? [];
    const master = this.#keys.get(keyId);
    if (!master) throw new DecryptionError("the keyring has no key with its ID");
    const bytes = fromBase64(payload);
    const info = contextBytes(marker ? "v2" : "v1", context);
    try {
      const text = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES), additionalData: info },
        await deriveDataKey(master, info),
        bytes.subarray(IV_BYTES),
      );
      return decoder.decode(text);
    } catch {
      throw new DecryptionError("it is altered, or sealed for another context");
    }
  }
}

let cached: { keyring: string; cipher: Cipher } | undefined;

export async function cipherOf(keyring: string): Promise<Cipher> {
  if (cached?.keyring !== keyring) cached = { keyring, cipher: await Cipher.of(keyring) };
  return cached.cipher;
}

/** A key of a keyring, before it is imported. */
export interface KeyringEntry {
  id: string;
  /** 32 bytes. */
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Parses a keyring, `id:base64,id:base64`, with keys of 32 bytes. Throws if it is malformed; the
 * message contains no part of it.
 */
export function parseKeyring(keyring: string): KeyringEntry[] {
  const entries = keyring.split(",").map((entry, index) => {
    const [, id, base64] = KEYRING_ENTRY.exec(entry.trim()) ?? [];
    if (id && base64) return { id, bytes: fromBase64(base64) };
    throw new Error(`Entry ${index + 1} of the keyring is not id:base64 of 32 bytes`);
  });
  if (new Set(entries.map(({ id }) => id)).size === entries.length) return entries;
  throw new Error("The keyring has two keys with the same ID");
}

async function importMasterKey({ id, bytes }: KeyringEntry): Promise<MasterKey> {
  const key = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  return { id, key };
}

function deriveDataKey({ key }: MasterKey, info: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
    key,
    { name: "AES-GCM", length: KEY_BYTES * 8 },
    false,
    ["encrypt", "decrypt"],
  );
}

/**
 * JSON, so that different contexts have different bytes. The form is among them, so that a text
 * whose marker was removed or added does not open.
 */
function contextBytes(
  form: Form,
  { table, row, organizationId, owners }: EncryptionContext,
): Uint8Array<ArrayBuffer> {
  const place = [table, row, organizationId];
  const json = JSON.stringify(form === "v1" ? place : [form, ...place, owners]);
  return Uint8Array.from(encoder.encode(json));
}

function toBase64(...parts: readonly Uint8Array[]): string {
  let binary = "";
  for (const part of parts) for (const byte of part) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw new DecryptionError("it is not base64");
  }
}

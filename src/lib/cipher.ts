const KEY_BYTES = 32;
const IV_BYTES = 12;
const KEYRING_ENTRY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;
const SEALED = /^([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9+/]+=*)$/;

/** Where a sealed text belongs. Sealed for one context, it opens in no other. */
export interface EncryptionContext {
  table: string;
  row: string;
  organizationId: string;
}

/** A column with sealed texts, of a table whose rows have an ID and an organization. */
export interface SealedColumn {
  table: string;
  column: string;
  contextOf(organizationId: string, id: string): EncryptionContext;
}

/** A sealed text that does not open: altered, of another context, or sealed under a key that is gone. */
export class DecryptionError extends Error {
  constructor(reason: string) {
    super(`A sealed text does not open: ${reason}`);
  }
}

let lastRead: { keyring: string; cipher: Cipher } | undefined;

/** The cipher of a keyring; reads one that it has just read not again. */
export async function cipherOf(keyring: string): Promise<Cipher> {
  if (lastRead?.keyring !== keyring) lastRead = { keyring, cipher: await Cipher.of(keyring) };
  return lastRead.cipher;
}

interface MasterKey {
  id: string;
  key: CryptoKey;
}

/**
 * Authenticated encryption of single values: AES-256-GCM (NIST SP 800-38D) with a fresh 96-bit IV
 * for every write, under a data key that HKDF-SHA-256 (RFC 5869) makes of a master key for one row.
 * The context is authenticated with it. A sealed text is the ID of its master key, `.`, and base64 of
 * IV, ciphertext and tag, so that keys can be changed while every value stays readable.
 */
export class Cipher {
  readonly #keys: ReadonlyMap<string, MasterKey>;
  readonly #current: MasterKey;

  private constructor(keys: readonly [MasterKey, ...MasterKey[]]) {
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    [this.#current] = keys;
  }

  /**
   * Reads a keyring, `id:base64,id:base64`: keys of 32 bytes, of which the first encrypts and all
   * decrypt. Throws on one that is malformed; the message holds nothing of it.
   */
  static async of(keyring: string): Promise<Cipher> {
    const entries = keyring.split(",").map((entry) => KEYRING_ENTRY.exec(entry.trim()));
    const keys = await Promise.all(entries.map((entry, at) => readMasterKey(entry, at)));
    if (new Set(keys.map(({ id }) => id)).size < keys.length) {
      throw new Error("The keyring has two keys of one ID");
    }
    const [first, ...rest] = keys;
    if (!first) throw new Error("The keyring is empty");
    return new Cipher([first, ...rest]);
  }

  /** The ID of the key that encrypts. */
  get currentKeyId(): string {
    return this.#current.id;
  }

  /** Throws on a text with lone surrogates, which UTF-8 could not give back. */
  async seal(text: string, context: EncryptionContext): Promise<string> {
    if (!text.isWellFormed()) throw new TypeError("A text with lone surrogates cannot be sealed");
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const key = await dataKey(this.#current, context);
    const sealed = await crypto.subtle.encrypt(
      { name: "AES-GCM", iv, additionalData: contextBytes(context) },
      key,
      new TextEncoder().encode(text),
    );
    return `${this.#current.id}.${toBase64(iv, new Uint8Array(sealed))}`;
  }

  /** Throws `DecryptionError` rather than ever give a wrong text. */
  async open(sealed: string, context: EncryptionContext): Promise<string> {
    const [, keyId = "", payload = ""] = SEALED.exec(sealed) ?? [];
    const master = this.#keys.get(keyId);
    if (!master) throw new DecryptionError("no key of the keyring has its ID");
    const bytes = fromBase64(payload);
    try {
      const text = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv: bytes.subarray(0, IV_BYTES), additionalData: contextBytes(context) },
        await dataKey(master, context),
        bytes.subarray(IV_BYTES),
      );
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
    } catch {
      throw new DecryptionError("it is altered, or sealed for another context");
    }
  }
}

async function readMasterKey(entry: RegExpExecArray | null, at: number): Promise<MasterKey> {
  const [, id, base64] = entry ?? [];
  if (!id || !base64)
    throw new Error(`Entry ${at + 1} of the keyring is not id:base64 of 32 bytes`);
  const bytes = fromBase64(base64);
  const key = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]);
  return { id, key };
}

function dataKey({ key }: MasterKey, context: EncryptionContext): Promise<CryptoKey> {
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: contextBytes(context) },
    key,
    { name: "AES-GCM", length: KEY_BYTES * 8 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** JSON, so that no two contexts have the same bytes. */
function contextBytes({ table, row, organizationId }: EncryptionContext): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(new TextEncoder().encode(JSON.stringify([table, row, organizationId])));
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

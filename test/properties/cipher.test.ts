import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Cipher, DecryptionError, type EncryptionContext } from "../../src/lib/cipher.ts";

const RUNS = { numRuns: 200 };
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
const place = (fields: Partial<EncryptionContext> = {}): EncryptionContext => ({
  table: "variables",
  row: "1C4dSLTQ9wKmCkmG3EtMZp",
  organizationId: "1C4dSLTQ9wKmCkmG3EtMZq",
  ...fields,
});
const unicode = fc.string({ unit: "binary", maxLength: 200 });
const bytesOf = (sealed: string) =>
  Uint8Array.from(atob(sealed.slice(sealed.indexOf(".") + 1)), (each) => each.charCodeAt(0));
const withBytes = (sealed: string, bytes: Uint8Array) =>
  `${sealed.slice(0, sealed.indexOf(".") + 1)}${btoa(String.fromCharCode(...bytes))}`;

let cipher: Cipher;

beforeAll(async () => {
  cipher = await Cipher.of(`new:${keyOf(1)},old:${keyOf(2)}`);
});

describe("a sealed text", () => {
  it("opens as the original text, for any Unicode text", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, async (text) => {
        expect(await cipher.open(await cipher.seal(text, place()), place())).toBe(text);
      }),
      RUNS,
    );
    for (const text of ["", "\u0000", "\ufeff", "\ufeffbom", "é", "e\u0301", "\u{10ffff}"]) {
      expect(await cipher.open(await cipher.seal(text, place()), place())).toBe(text);
    }
  });

  it("cannot contain lone surrogates, which UTF-8 cannot represent", async () => {
    const broken = fc
      .tuple(fc.string(), fc.integer({ min: 0xd800, max: 0xdfff }), fc.string())
      .map(([before, unit, after]) => before + String.fromCharCode(unit) + after)
      .filter((text) => !text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(broken, async (text) => {
        await expect(cipher.seal(text, place())).rejects.toThrow(TypeError);
      }),
      RUNS,
    );
  });

  it("differs each time, and starts with the ID of its key", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, async (text) => {
        const [one, two] = [await cipher.seal(text, place()), await cipher.seal(text, place())];
        expect(one).not.toBe(two);
        expect(one.startsWith("new.")).toBe(true);
        // The ciphertext differs too, not only the IV.
        expect(one.slice(-20)).not.toBe(two.slice(-20));
      }),
      RUNS,
    );
  });

  it("does not open with any bit flipped", async () => {
    const bit = fc.nat();
    await fc.assert(
      fc.asyncProperty(unicode, bit, async (text, pick) => {
        const sealed = await cipher.seal(text, place());
        const bytes = bytesOf(sealed);
        const at = pick % (bytes.length * 8);
        bytes[at >> 3] = Number(bytes[at >> 3]) ^ (1 << (at & 7));
        await expect(cipher.open(withBytes(sealed, bytes), place())).rejects.toThrow(
          DecryptionError,
        );
      }),
      RUNS,
    );
  });

  it("does not open if truncated, extended or corrupted", async () => {
    const sealed = await cipher.seal("text", place());
    const bytes = bytesOf(sealed);
    const broken = [
      "",
      "new",
      "new.",
      "text",
      sealed.slice(4),
      `${sealed} `,
      sealed.replace("new.", "old."),
      withBytes(sealed, bytes.subarray(1)),
      withBytes(sealed, bytes.subarray(0, -1)),
      withBytes(sealed, bytes.subarray(0, 12)),
      withBytes(sealed, bytes.subarray(0, 5)),
      withBytes(sealed, new Uint8Array([...bytes, 0])),
    ];
    for (const each of broken) {
      await expect(cipher.open(each, place()), each).rejects.toThrow(DecryptionError);
    }
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        await expect(cipher.open(text, place())).rejects.toThrow(DecryptionError);
      }),
      RUNS,
    );
  });

  it("does not open in another row, organization or table", async () => {
    const other = fc.record({ table: unicode, row: unicode, organizationId: unicode });
    await fc.assert(
      fc.asyncProperty(unicode, other, other, async (text, here, there) => {
        fc.pre(JSON.stringify(here) !== JSON.stringify(there));
        const sealed = await cipher.seal(text, here);
        await expect(cipher.open(sealed, there)).rejects.toThrow(DecryptionError);
      }),
      RUNS,
    );
    const sealed = await cipher.seal("text", place({ table: "ab", row: "c" }));
    await expect(cipher.open(sealed, place({ table: "a", row: "bc" }))).rejects.toThrow(
      DecryptionError,
    );
  });

  it("opens while its key is in the keyring, at any position", async () => {
    const before = await (await Cipher.of(`old:${keyOf(2)}`)).seal("text", place());
    expect(await cipher.open(before, place())).toBe("text");
    const without = await Cipher.of(`new:${keyOf(1)}`);
    await expect(without.open(before, place())).rejects.toThrow(
      "the keyring has no key with its ID",
    );
    const impostor = await Cipher.of(`old:${keyOf(3)}`);
    await expect(impostor.open(before, place())).rejects.toThrow(DecryptionError);
  });
});

describe("a keyring", () => {
  it.each([
    ["that is empty", ""],
    ["without an ID", keyOf(1)],
    ["with an ID of other characters", `a.b:${keyOf(1)}`],
    ["with a key that is too short", `a:${btoa("short")}`],
    ["with a key that is too long", `a:${btoa("x".repeat(33))}`],
    ["with a key that is not base64", `a:${"!".repeat(44)}`],
    ["with two keys of the same ID", `a:${keyOf(1)},a:${keyOf(2)}`],
    ["with an empty entry", `a:${keyOf(1)},`],
  ])("%s is refused, and the message holds nothing of it", async (_, keyring) => {
    const refusal = await Cipher.of(keyring).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(Error);
    if (keyring !== "") expect(String(refusal)).not.toContain(keyring);
    expect(String(refusal)).not.toContain(keyOf(1));
  });

  it("encrypts with its first key, and exposes the ID of that key", async () => {
    expect(cipher.currentKeyId).toBe("new");
    const turned = await Cipher.of(` old:${keyOf(2)} , new:${keyOf(1)}`);
    expect(turned.currentKeyId).toBe("old");
  });
});

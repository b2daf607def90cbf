import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { Cipher, DecryptionError, type EncryptionContext } from "../../src/lib/cipher.ts";
import { sealInFormV1 } from "../support/form-v1.ts";

/** Sealed without a form marker, under the key `k1` of 32 bytes with the value 9. */
const SEALED_WITHOUT_MARKER = [
  [
    "variables",
    "k1.BQWmlCgSt7qHNp7qXH7sjq2RFhaYtcW5AHWSWYSdhfWMkkZk97oE8+UiavccTY78qUo=",
    "postgres://app@db/shop",
  ],
  [
    "integrations.url",
    "k1.qUlMg2edPih62r8RGRM2KPAgDET1h0ul0h3VNxBS13sr9zSx8TlIuvoIBXbqYGjKOv+AHhN+RzYsAg/txfdxDQ==",
    "https://hooks.example.com/in?token=1",
  ],
  ["integrations.secret", "k1.vmdfG8DrRpUqDRxfMM/hzPlq7pr0Z4VugAhJjreoYU9I4PU/ikM=", "whsec_AAAA"],
] as const;

const RUNS = { numRuns: 200 };
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
const place = (fields: Partial<EncryptionContext> = {}): EncryptionContext => ({
  table: "variables",
  row: "1C4dSLTQ9wKmCkmG3EtMZp",
  organizationId: "1C4dSLTQ9wKmCkmG3EtMZq",
  owners: ["1C4dSLTQ9wKmCkmG3EtMZr", null],
  ...fields,
});
const unicode = fc.string({ unit: "binary", maxLength: 200 });
const contexts = fc.record({
  table: unicode,
  row: unicode,
  organizationId: unicode,
  owners: fc.array(fc.option(unicode), { maxLength: 3 }),
});
const payloadAt = (sealed: string) => sealed.lastIndexOf(".") + 1;
const bytesOf = (sealed: string) =>
  Uint8Array.from(atob(sealed.slice(payloadAt(sealed))), (each) => each.charCodeAt(0));
const withBytes = (sealed: string, bytes: Uint8Array) =>
  `${sealed.slice(0, payloadAt(sealed))}${btoa(String.fromCharCode(...bytes))}`;

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

  it("differs each time, and starts with the ID of its key and its form", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, async (text) => {
        const [one, two] = [await cipher.seal(text, place()), await cipher.seal(text, place())];
        expect(one).not.toBe(two);
        expect(one.startsWith("new.v2.")).toBe(true);
        expect(one.startsWith(cipher.currentPrefix)).toBe(true);
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

  it("does not open in another row, organization or table, or for other owners", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, contexts, contexts, async (text, here, there) => {
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

  it("opens for exactly the owners that it was sealed for, in their order", async () => {
    const owners = ["project", "environment", null];
    const sealed = await cipher.seal("text", place({ owners }));
    expect(await cipher.open(sealed, place({ owners: [...owners] }))).toBe("text");
    const others = [
      [],
      ["project", "environment"],
      ["other project", "environment", null],
      ["project", "other environment", null],
      ["project", "environment", "component"],
      ["environment", "project", null],
      ["project", "environment", "null"],
      ["project", "environment", null, null],
      ["projecte", "nvironment", null],
    ];
    for (const each of others) {
      await expect(cipher.open(sealed, place({ owners: each }))).rejects.toThrow(DecryptionError);
    }
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

describe("a text that is sealed without a form marker", () => {
  it.each(SEALED_WITHOUT_MARKER)("opens in its row: %s", async (table, sealed, text) => {
    const before = await Cipher.of(`k1:${keyOf(9)}`);
    for (const owners of [[], ["project"], ["project", null]]) {
      expect(await before.open(sealed, place({ table, owners }))).toBe(text);
    }
    expect(sealed.startsWith(before.currentPrefix)).toBe(false);
    for (const other of [{ table: "others" }, { row: "other" }, { organizationId: "other" }]) {
      await expect(before.open(sealed, place({ table, ...other }))).rejects.toThrow(
        DecryptionError,
      );
    }
  });

  it("is what the tests seal in its form", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, contexts, async (text, context) => {
        const sealed = await sealInFormV1(`old:${keyOf(2)}`, text, context);
        expect(sealed).toMatch(/^old\.[^.]+$/);
        expect(await cipher.open(sealed, { ...context, owners: [] })).toBe(text);
      }),
      RUNS,
    );
  });
});

describe("the form of a sealed text", () => {
  it("cannot be changed: with the marker removed, added or replaced, no text opens", async () => {
    await fc.assert(
      fc.asyncProperty(unicode, contexts, async (text, context) => {
        const now = await cipher.seal(text, context);
        const before = await sealInFormV1(`new:${keyOf(1)}`, text, context);
        const changed = [
          now.replace(".v2.", "."),
          now.replace(".v2.", ".v1."),
          now.replace(".v2.", ".v3."),
          now.replace(".v2.", ".v2.v2."),
          now.replace(".v2.", ".."),
          before.replace(".", ".v2."),
          before.replace(".", ".v1."),
        ];
        for (const each of changed) {
          await expect(cipher.open(each, context), each).rejects.toThrow(DecryptionError);
          const withoutOwners = { ...context, owners: [] };
          await expect(cipher.open(each, withoutOwners)).rejects.toThrow(DecryptionError);
        }
        expect(await cipher.open(now, context)).toBe(text);
        expect(await cipher.open(before, context)).toBe(text);
      }),
      RUNS,
    );
  });

  it("is the current one in every new text, also under a key that has sealed without a marker", async () => {
    const before = await Cipher.of(`k1:${keyOf(9)}`);
    expect(await before.seal("text", place())).toMatch(/^k1\.v2\.[A-Za-z0-9+/]+=*$/);
    // A key with the ID of the marker changes nothing.
    const confusing = await Cipher.of(`v2:${keyOf(9)}`);
    const sealed = await confusing.seal("text", place());
    expect(sealed.startsWith("v2.v2.")).toBe(true);
    expect(await confusing.open(sealed, place())).toBe("text");
    await expect(confusing.open(sealed.slice(3), place())).rejects.toThrow(DecryptionError);
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

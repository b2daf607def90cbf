import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/lib/digest.ts";
import { toHex } from "../../src/lib/radix.ts";

describe("bytes in hexadecimal", () => {
  it("have two lowercase digits for each byte", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(toHex(all)).toHaveLength(512);
    expect(toHex(all).slice(0, 40)).toBe("000102030405060708090a0b0c0d0e0f10111213");
    expect(toHex(new Uint8Array())).toBe("");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = toHex(bytes);
        expect(text).toMatch(/^[0-9a-f]*$/);
        const pairs = text.match(/../g) ?? [];
        expect(pairs.map((pair) => Number.parseInt(pair, 16))).toEqual([...bytes]);
      }),
    );
  });

  it("are the digests of FIPS 180-4, of a text and of its bytes", async () => {
    const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(await sha256Hex("abc")).toBe(digest);
    expect(await sha256Hex(Uint8Array.of(0x61, 0x62, 0x63).buffer)).toBe(digest);
  });

  it.each(["a", "é", "€", "😀", "\ud800"])(
    "are those of the bytes of a text, on both sides of the length that fits: %j",
    async (character) => {
      const encoder = new TextEncoder();
      const size = encoder.encode(character).length;
      for (const bytes of [0, size, 4_096 - size, 4_096, 4_096 + size, 100_000]) {
        for (const rest of ["", "b"]) {
          const text = character.repeat(Math.floor(bytes / size)) + rest;
          const expected = await sha256Hex(encoder.encode(text).buffer as ArrayBuffer);
          expect(await sha256Hex(text), `${text.length}`).toBe(expected);
        }
      }
    },
  );

  it("are those of each of many texts at once", async () => {
    const texts = Array.from({ length: 50 }, (_, at) => "x".repeat(at * 10));
    const digests = await Promise.all(texts.map((text) => sha256Hex(text)));
    for (const [at, text] of texts.entries()) expect(digests[at]).toBe(await sha256Hex(text));
    expect(new Set(digests).size).toBe(texts.length);
  });

  it("of invalid UTF-8 do not keep a decoder from decoding the next text", () => {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const bytes = new TextEncoder().encode("é");
    for (const invalid of [Uint8Array.of(0xff), bytes.subarray(0, 1)]) {
      expect(() => decoder.decode(invalid)).toThrow(TypeError);
      expect(decoder.decode(bytes)).toBe("é");
    }
  });
});

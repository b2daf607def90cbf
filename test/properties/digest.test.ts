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

  it("are those of Web Crypto, on both sides of the length from which it computes them", async () => {
    for (const length of [0, 55, 56, 63, 64, 1_000, 4_095, 4_096, 4_097, 100_000]) {
      const bytes = new Uint8Array(length).map((_, at) => (at * 7) % 251);
      const expected = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
      expect(await sha256Hex(bytes.buffer), String(length)).toBe(expected);
    }
    const text = "é".repeat(2_048);
    const bytes = new TextEncoder().encode(text);
    expect(await sha256Hex(text)).toBe(await sha256Hex(bytes.slice().buffer));
    expect(await sha256Hex(text.slice(1))).not.toBe(await sha256Hex(text));
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

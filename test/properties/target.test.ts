import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { describe, expect, it } from "vitest";
import { targetProblem } from "../../src/lib/target-url.ts";
import { GOOD, HOSTILE } from "../support/targets.ts";

const hostile = Object.entries(HOSTILE).flatMap(([why, urls]) => urls.map((url) => [why, url]));

/** Addresses of a block, with random bits after the prefix. */
const within = (block: readonly number[], prefix: number, width: 4 | 16) =>
  fc.uint8Array({ minLength: width, maxLength: width }).map((bytes) =>
    bytes.map((byte, at) => {
      const fixed = Math.min(8, Math.max(0, prefix - at * 8));
      const mask = 0xff >> fixed;
      return (byte & mask) | ((block[at] ?? 0) & ~mask & 0xff);
    }),
  );
const v4 = (bytes: Uint8Array) => bytes.join(".");
const v6 = (bytes: Uint8Array) =>
  Array.from({ length: 8 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  ).join(":");

/** Source: IANA's IPv4 special-purpose address registry, and multicast. */
const BLOCKS_V4: readonly [number[], number][] = [
  [[0], 8],
  [[10], 8],
  [[100, 64], 10],
  [[127], 8],
  [[169, 254], 16],
  [[172, 16], 12],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24],
  [[192, 31, 196], 24],
  [[192, 52, 193], 24],
  [[192, 88, 99], 24],
  [[192, 168], 16],
  [[192, 175, 48], 24],
  [[198, 18], 15],
  [[198, 51, 100], 24],
  [[203, 0, 113], 24],
  [[224], 4],
  [[240], 4],
];

/** Source: IANA's IPv6 special-purpose address registry, multicast, and embedded IPv4. */
const BLOCKS_V6: readonly [number[], number][] = [
  [[0, 0], 16],
  [[0, 0x64, 0xff, 0x9b], 32],
  [[0, 0x64, 0xff, 0x9b, 0, 1], 48],
  [[0x01, 0], 64],
  [[0x20, 0x01, 0, 0], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x20, 0x02], 16],
  [[0x26, 0x20, 0, 0x4f, 0x80, 0], 48],
  [[0x3f, 0xff, 0, 0], 20],
  [[0x5f, 0], 16],
  [[0xfc], 7],
  [[0xfe, 0x80], 10],
  [[0xfe, 0xc0], 10],
  [[0xff], 8],
];

describe("the target of a webhook", () => {
  it("is refused for many reasons", () => {
    expect(hostile.length).toBeGreaterThanOrEqual(60);
    expect(GOOD.length).toBeGreaterThanOrEqual(15);
  });

  it.each(hostile)("%s: %s is refused, and the message says what to change", (_, url = "") => {
    expect(targetProblem(url, false)).toMatch(/^Send (a|an) .*URL/);
  });

  it.each(GOOD)("%s is accepted", (url) => {
    expect(targetProblem(url, false)).toBeUndefined();
  });

  it.each(BLOCKS_V4)("no address of %j/%i is accepted, in any notation", (block, prefix) => {
    fc.assert(
      fc.property(within(block, prefix, 4), (bytes) => {
        const [a = 0, b = 0, c = 0, d = 0] = bytes;
        const number = ((a * 256 + b) * 256 + c) * 256 + d;
        const hex = (byte: number) => byte.toString(16).padStart(2, "0");
        const pairs = `${hex(a)}${hex(b)}:${hex(c)}${hex(d)}`;
        for (const host of [
          v4(bytes),
          `${v4(bytes)}.`,
          String(number),
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          `${a}.${(b * 256 + c) * 256 + d}`,
          `0x${hex(a)}.0${b.toString(8)}.${c}.${d}`,
          `[::ffff:${v4(bytes)}]`,
          `[::${pairs}]`,
          `[::ffff:0:${pairs}]`,
          `[64:ff9b::${v4(bytes)}]`,
          `[2002:${pairs}::1]`,
        ]) {
          expect(targetProblem(`https://${host}/`, false), host).toBeDefined();
        }
      }),
    );
  });

  it.each(BLOCKS_V6)("no address of %j/%i is accepted", (block, prefix) => {
    fc.assert(
      fc.property(within(block, prefix, 16), (bytes) => {
        expect(targetProblem(`https://[${v6(bytes)}]/`, false), v6(bytes)).toBeDefined();
      }),
    );
  });

  const anywhere = fc.oneof(
    ...BLOCKS_V4.map(([block, prefix]) => within(block, Math.max(0, prefix - 2), 4).map(v4)),
    within([], 0, 4).map(v4),
    ...BLOCKS_V6.map(([block, prefix]) => within(block, prefix - 2, 16).map(v6)),
    within([0x20], 3, 16).map(v6),
    within([], 0, 16).map(v6),
  );

  it("is public according to an independent library, also at the edges of blocks", () => {
    fc.assert(
      fc.property(anywhere, (host) => {
        const address = ipaddr.parse(host);
        const isRouted = address instanceof ipaddr.IPv4 || /^[23][0-9a-f]{3}:/.test(host);
        const isPublic = address.range() === "unicast" && isRouted;
        const url = address instanceof ipaddr.IPv4 ? `https://${host}/` : `https://[${host}]/`;
        expect(targetProblem(url, false) === undefined, host).toBe(isPublic);
      }),
      { numRuns: 5_000 },
    );
  });

  it("is checked for any text without an exception", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.webUrl(),
      fc.string().map((host) => `https://${host}/`),
      fc.ipV6().map((host) => `https://[${host}]/`),
    );
    fc.assert(
      fc.property(texts, fc.boolean(), (text, insecure) => {
        targetProblem(text, insecure);
      }),
      { numRuns: 2_000 },
    );
  });

  it("may be this machine, without TLS, if insecure webhooks are allowed", () => {
    for (const url of ["http://127.0.0.1:8787/x", "http://localhost/", "https://10.0.0.1:5000/"]) {
      expect(targetProblem(url, true)).toBeUndefined();
    }
    for (const url of ["ftp://localhost/", "http://u:p@localhost/", "http://localhost/#a", "x"]) {
      expect(targetProblem(url, true)).toBeDefined();
    }
  });
});

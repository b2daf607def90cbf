import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Masker } from "../../packages/runner/src/masker.ts";
import { secretForms } from "../../packages/runner/src/secret-forms.ts";

/** Of a small alphabet, so that patterns overlap, and contain and repeat each other. */
const word = (maxLength: number) =>
  fc
    .array(fc.constantFrom(97, 98, 99), { minLength: 1, maxLength })
    .map((bytes) => Buffer.from(bytes));

/** Marks each occurrence of each pattern. */
function maskNaively(text: Buffer, patterns: readonly Buffer[]): string {
  const isMasked = new Array<boolean>(text.length).fill(false);
  for (const pattern of patterns) {
    for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) {
      isMasked.fill(true, at, at + pattern.length);
    }
  }
  const shown = [...text].map((byte, at) => {
    if (!isMasked[at]) return String.fromCharCode(byte);
    return isMasked[at - 1] ? "" : "***";
  });
  return shown.join("");
}

function mask(masker: Masker, chunks: readonly Buffer[]): string {
  const parts = chunks.map((chunk) => masker.mask(chunk));
  return Buffer.concat([...parts, masker.flush()]).toString("latin1");
}

function split(text: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((start, index) => text.subarray(start, places[index] ?? text.length));
}

const maskSecret = (value: string, output: string) =>
  mask(new Masker(secretForms(value)), [Buffer.from(output)]);

describe("a masker", () => {
  it("masks what a naive search finds, however the output is divided", () => {
    fc.assert(
      fc.property(
        fc.array(word(6), { maxLength: 5 }),
        word(60),
        fc.array(fc.nat(100)),
        (patterns, text, cuts) => {
          const masked = mask(new Masker(patterns), split(text, cuts));
          expect(masked).toBe(maskNaively(text, patterns));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("shows at once what cannot become a secret, and holds back what can", () => {
    const masker = new Masker([Buffer.from("hunter22")]);
    expect(masker.mask(Buffer.from("plain hunt")).toString()).toBe("plain ");
    expect(masker.mask(Buffer.from("ing hunter")).toString()).toBe("hunting ");
    expect(masker.mask(Buffer.from("22!")).toString()).toBe("***!");
    expect(masker.mask(Buffer.from("hunter2")).toString()).toBe("");
    expect(masker.flush().toString()).toBe("hunter2");
  });

  it("shows everything if there is no secret", () => {
    expect(mask(new Masker([]), [Buffer.from("a"), Buffer.from("b")])).toBe("ab");
  });

  it("takes linear time for a long secret that the output almost repeats", () => {
    const masker = new Masker([
      Buffer.from(`${"a".repeat(32_767)}b`),
      Buffer.from("a".repeat(32_768)),
    ]);
    const chunk = Buffer.alloc(64 * 1024, "a");
    // A quadratic search takes hours.
    for (let at = 0; at < 160; at += 1) masker.mask(chunk);
    expect(masker.flush().toString()).toBe("");
    expect(mask(new Masker([Buffer.from(`${"a".repeat(32_767)}b`)]), [chunk]).length).toBe(
      64 * 1024,
    );
  });
});

describe("a secret", () => {
  const values = ["s3cr3t/+value?&<x>", "pässwörd ünïcode", '{"key": "a\\b"}', "1234"];

  it.each(values)("is masked as it is, and in its encodings: %s", (value) => {
    const base64 = Buffer.from(value).toString("base64");
    const forms = [
      value,
      base64,
      base64.replace(/=+$/, ""),
      Buffer.from(value).toString("base64url"),
      encodeURIComponent(value),
      encodeURIComponent(value).replaceAll(/%../g, (each) => each.toLowerCase()),
      new URLSearchParams({ v: value }).toString().slice(2),
      JSON.stringify(value).slice(1, -1),
    ];
    for (const form of forms) expect(maskSecret(value, `<${form}>`)).toBe("<***>");
  });

  it("is masked within the base64 of a longer text, except for at most two bytes at each end", () => {
    const value = "correct horse battery";
    for (const before of ["", "a", "ab", "user:", "x".repeat(7)]) {
      for (const after of ["", "c", "cd", "\n"]) {
        const output = Buffer.from(before + value + after).toString("base64");
        const masked = maskSecret(value, output);
        expect(masked).toContain("***");
        const decoded = Buffer.from(
          masked.replace("***", "\n").replace("\n", ""),
          "base64",
        ).toString();
        for (let at = 0; at + 6 <= value.length; at += 1) {
          expect(decoded).not.toContain(value.slice(at, at + 6));
        }
      }
    }
  });

  it("of several lines is masked as a whole and line by line, also in base64 with line breaks", () => {
    const value = `-----BEGIN KEY-----\n${"MIIEpAIBAAKCAQEA".repeat(8)}\nshort\n-----END KEY-----\n`;
    const [, line = ""] = value.split("\n");
    expect(maskSecret(value, value.replaceAll("\n", "\r\n"))).toBe("***");
    expect(maskSecret(value, `| ${line} |`)).toBe("| *** |");
    expect(maskSecret(value, "| short |")).toBe("| short |");
    const wrapped = (
      Buffer.from(value)
        .toString("base64")
        .match(/.{1,76}/g) ?? []
    ).join("\n");
    expect(maskSecret(value, `${wrapped}\n`)).toBe("***\n");
  });

  it("with fewer than four characters is shown, because it would mask ordinary words", () => {
    expect(maskSecret("abc", "abcdef")).toBe("abcdef");
    expect(maskSecret("abcd", "abcdef")).toBe("***ef");
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Masker, type Patterns, prepareMaskers } from "../../packages/runner/src/masker.ts";
import { secretPatterns } from "../../packages/runner/src/secret-forms.ts";

/** Of a small alphabet, so that patterns overlap, and contain and repeat each other. */
const word = (maxLength: number) =>
  fc
    .array(fc.constantFrom(97, 98, 99), { minLength: 1, maxLength })
    .map((bytes) => Buffer.from(bytes));

const newMasker = (patterns: Partial<Patterns>) =>
  prepareMaskers({ exact: [], base64: [], encoded: [], shell: [], ...patterns })();

/** Marks each occurrence of each pattern. */
function maskNaively(text: Buffer, { exact = [], base64 = [] }: Partial<Patterns>): string {
  const isMasked = new Array<boolean>(text.length).fill(false);
  const characters = text.toString("latin1");
  const expressions = [
    ...exact.map((pattern) => toClasses(pattern).join("")),
    ...base64.map((pattern) => toClasses(pattern).join("\\r?\\n?").replaceAll("[+]", "[-+]")),
  ];
  for (const expression of expressions) {
    for (let at = 0; at < text.length; at += 1) {
      const match = new RegExp(expression, "y");
      match.lastIndex = at;
      if (match.test(characters)) isMasked.fill(true, at, match.lastIndex);
    }
  }
  const shown = [...text].map((byte, at) => {
    if (!isMasked[at]) return String.fromCharCode(byte);
    return isMasked[at - 1] ? "" : "***";
  });
  return shown.join("");
}

function toClasses(pattern: Uint8Array): string[] {
  return Array.from(pattern, (byte) => `[${String.fromCharCode(byte)}]`);
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
  mask(newMasker(secretPatterns([value])), [Buffer.from(output)]);

const toLines = (text: string, width: number, lineBreak: string) =>
  (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join(lineBreak);

describe("a masker", () => {
  it("masks what a naive search finds, however the output is divided", () => {
    fc.assert(
      fc.property(
        fc.array(word(6), { maxLength: 5 }),
        word(60),
        fc.array(fc.nat(100)),
        (exact, text, cuts) => {
          const masked = mask(newMasker({ exact }), split(text, cuts));
          expect(masked).toBe(maskNaively(text, { exact, base64: [] }));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("masks base64 in both alphabets and across line breaks, beside exact patterns", () => {
    const bytes = (characters: string, maxLength: number) =>
      fc
        .array(fc.constantFrom(...characters), { minLength: 1, maxLength })
        .map((each) => Buffer.from(each.join("")));
    fc.assert(
      fc.property(
        fc.record({
          exact: fc.array(bytes("a+\n", 4), { maxLength: 2 }),
          base64: fc.array(bytes("ab+", 5), { maxLength: 4 }),
        }),
        bytes("ab+-\r\n", 40),
        fc.array(fc.nat(100)),
        (patterns, text, cuts) => {
          const masked = mask(newMasker(patterns), split(text, cuts));
          expect(masked).toBe(maskNaively(text, patterns));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it("masks patterns of which any bytes are percent-encoded, however the output is divided", () => {
    fc.assert(
      fc.property(
        word(8),
        fc.array(fc.constantFrom("plain", "upper", "lower"), { minLength: 8, maxLength: 8 }),
        fc.constantFrom("", "%", "%6", "%zz", "%%", "x"),
        fc.array(fc.nat(100)),
        (pattern, encodings, around, cuts) => {
          const encoded = [...pattern]
            .map((byte, at) => {
              const escaped = `%${byte.toString(16)}`;
              if (encodings[at] === "plain") return String.fromCharCode(byte);
              return encodings[at] === "upper" ? escaped.toUpperCase() : escaped;
            })
            .join("");
          const text = Buffer.from(`<${around}>${encoded}<${around}>`);
          const masked = mask(newMasker({ encoded: [pattern] }), split(text, cuts));
          expect(masked).toBe(`<${around}>***<${around}>`);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("shows at once what cannot become a secret, and holds back what can", () => {
    const masker = newMasker({ exact: [Buffer.from("hunter22")] });
    expect(masker.mask(Buffer.from("plain hunt")).toString()).toBe("plain ");
    expect(masker.mask(Buffer.from("ing hunter")).toString()).toBe("hunting ");
    expect(masker.mask(Buffer.from("22")).toString()).toBe("***");
    expect(masker.mask(Buffer.from("!")).toString()).toBe("!");
    expect(masker.mask(Buffer.from("hunter2")).toString()).toBe("");
    expect(masker.flush().toString()).toBe("hunter2");
  });

  it("shows everything if there is no secret", () => {
    expect(mask(newMasker({}), [Buffer.from("a"), Buffer.from("b")])).toBe("ab");
  });

  it("takes linear time for a long secret that the output almost repeats", () => {
    const almost = [Buffer.from(`${"a".repeat(32_767)}b`)];
    const repeated = Buffer.from("a".repeat(32_768));
    const masker = newMasker({ exact: [...almost, repeated], base64: almost });
    const chunk = Buffer.alloc(64 * 1024, "a");
    // A quadratic search takes hours.
    for (let at = 0; at < 160; at += 1) masker.mask(chunk);
    expect(masker.flush().toString()).toBe("");
    const bytes = Array.from(chunk, (byte) => Buffer.from([byte]));
    expect(mask(newMasker({ exact: almost, base64: almost }), bytes).length).toBe(chunk.length);
  });
});

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

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
      JSON.stringify(value).slice(1, -1).replaceAll("/", "\\/"),
      JSON.stringify(value)
        .slice(1, -1)
        .replaceAll(/[<>&]|[^\0-\x7f]/g, toUnicodeEscape),
    ];
    for (const form of forms) expect(maskSecret(value, `<${form}>`)).toBe("<***>");
  });

  it("is masked within the base64 of a longer text, except for bits that it shares with its neighbors", () => {
    for (const value of ["hunter", "correct horse battery"]) {
      for (const before of ["", "a", "ab", "user:", "x".repeat(7)]) {
        for (const after of ["", "c", "cd", "\n"]) {
          const bytes = Buffer.from(before + value + after);
          const first = Math.ceil((before.length * 8) / 6);
          const last = Math.floor(((before.length + value.length) * 8) / 6);
          for (const encoding of ["base64", "base64url"] as const) {
            const text = bytes.toString(encoding);
            const shown = maskSecret(value, text).split("***");
            expect(shown.length).toBe(2);
            expect(text.slice(0, first)).toContain(shown[0]);
            expect(text.slice(last)).toContain(shown[1]);
          }
        }
      }
    }
  });

  it("is masked within base64 wherever it is wrapped", () => {
    const value = "correct-horse-battery-staple-9921";
    for (let before = 0; before < 60; before += 1) {
      const config = `${"x".repeat(before)}\npassword: ${value}\nport: 5432\n`;
      for (const lineBreak of ["\n", "\r\n"]) {
        const output = toLines(Buffer.from(config).toString("base64"), 76, lineBreak);
        const [start = "", end = ""] = maskSecret(value, output).split("***");
        const [, shown = ""] = Buffer.from(start, "base64").toString().split("password: ");
        expect(shown.length).toBeLessThanOrEqual(1);
        expect(end.length).toBeLessThanOrEqual(24);
      }
    }
  });

  it.each([
    ["p@ss/word 1", "p%40ss/word%201"],
    ["p@ss w$rd!@h", "postgres://u:p%40ss%20w$rd!%40h@db"],
    ["a b&c=d", "a%20b&c=d"],
    ["a b+c", "a+b%2Bc"],
    ["50%41 off", "50%2541%20off"],
    ["50%41 off", "50%41 off"],
    ["é\u007f&x", "\\u00E9\\u007F\\u0026x"],
    ["  hunter22 ", "<hunter22>"],
  ])("%s is masked in %s, as some programs write it", (value, output) => {
    const masked = maskSecret(value, output);
    expect(masked).toContain("***");
    expect(masked.replace("***", "").length).toBeLessThanOrEqual("postgres://u:@db".length);
  });

  it("of several lines is masked as a whole and line by line, also in base64 with line breaks", () => {
    const value = `-----BEGIN KEY-----\n${"MIIEpAIBAAKCAQEA".repeat(8)}\nshort\n-----END KEY-----\n`;
    const [, line = ""] = value.split("\n");
    expect(maskSecret(value, value.replaceAll("\n", "\r\n"))).toBe("***");
    expect(maskSecret(value, `| ${line} |`)).toBe("| *** |");
    expect(maskSecret(value, "| short |")).toBe("| short |");
    for (const printed of [value, value.trimEnd(), `${value}\n`]) {
      for (const width of [64, 76]) {
        const wrapped = toLines(Buffer.from(printed).toString("base64"), width, "\n");
        // What may remain is the group of four that also encodes the line break.
        expect(maskSecret(value, `${wrapped}\n`)).toMatch(/^\*\*\*.{0,4}\n$/);
      }
    }
  });

  it("is masked without its line breaks at the end, which a shell removes", () => {
    expect(maskSecret("abc123\n", "<abc123>")).toBe("<***>");
    expect(maskSecret("abc123\n", `<${Buffer.from("abc123").toString("base64")}>`)).toBe("<***>");
  });

  it("with fewer than four characters is shown, because it would mask ordinary words", () => {
    expect(maskSecret("abc", "abcdef")).toBe("abcdef");
    expect(maskSecret("abcd", "abcdef")).toBe("***ef");
  });
});

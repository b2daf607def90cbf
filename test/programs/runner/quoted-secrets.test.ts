import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { prepareMaskers } from "../../../packages/runner/src/masker.ts";
import { secretPatterns } from "../../../packages/runner/src/secret-forms.ts";

const VALUES = {
  "all quotes": `pa'ss"w0rd$x y`,
  "what shells expand": "a $HOME `id` !! ~ * ? [b] {c,d} #e ; f | g & (h) < i > j ^ k",
  backslashes: String.raw`C:\Users\new\table`,
  "quotes around it": `'hunter22'`,
  "double quotes around it": `"hunter22"`,
  "a backslash at the end": "hunter22\\",
  "little but quotes": `a'"b`,
  "only quotes": `'"'"`,
  JSON: JSON.stringify({ key: "a\\b", list: ["it's"] }),
  "several lines": "first line\nthe second line's end\n",
  "short lines": "one\ntwo\nthree\n\n\nfour",
  tabs: "a\tb\rc\vd",
  "an escape sequence": "\u001b[31mred\u0007",
  "other letters": "pässwörd für «ünïcode»",
  "an emoji": "ship 🚢 it",
  markup: `<a href="x?a=1&b=2">it's</a>`,
  "an entity": "AT&amp;T &lt; 50%",
  base64: "c2VjcmV0/+==",
  "a key": `-----BEGIN KEY-----\n${"MIIEpAIBAAKCAQEA".repeat(8)}\n-----END KEY-----\n`,
  plain: "hunter22",
};

const octal = (byte: number) => `\\${byte.toString(8).padStart(3, "0")}`;
const hex = (byte: number) => `\\x${byte.toString(16).padStart(2, "0")}`;
const bytesOf = (text: string, form: (byte: number) => string) =>
  Array.from(Buffer.from(text), form).join("");
const LETTERS: Record<string, string> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
};
const controls = (text: string, escapeCode: string, form = octal) =>
  text.replaceAll(/\p{Cc}/gu, (each) =>
    each === "\u001b" ? escapeCode : (LETTERS[each] ?? bytesOf(each, form)),
  );
const ansi = (text: string, escapeCode: string) =>
  `$'${controls(text.replaceAll(/[\\']/g, "\\$&"), escapeCode)}'`;
const inC = (text: string, form = octal) =>
  text.replaceAll(/[^\0-\x7f]+/g, (run) => bytesOf(run, form));
const single = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const double = (text: string) => `"${text.replaceAll(/[\\"$`]/g, "\\$&")}"`;
const html = (text: string, quote: string, apostrophe: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe);

const FORMS: Record<string, (value: string) => string> = {
  "in single quotes, as bash -x and export -p do": single,
  "in single quotes, as dash and Python's shlex do": (value) =>
    `'${value.replaceAll("'", `'"'"'`)}'`,
  "in single quotes, as fish does": (value) => `'${value.replaceAll(/[\\']/g, "\\$&")}'`,
  "in doubled quotes, as PowerShell, SQL and YAML do": (value) =>
    `'${value.replaceAll("'", "''")}'`,
  "in doubled quotes, as CSV does": (value) => `"${value.replaceAll('"', '""')}"`,
  "in double quotes, as declare -p does": double,
  "with backslashes, as printf %q does": (value) =>
    value.replaceAll(/(?![\w.:@%/+=~#-])[ -~]/g, "\\$&"),
  "with backslashes, as Ruby's Shellwords does": (value) =>
    value.replaceAll(/[^A-Za-z0-9_\-.,:+/@\n]/gu, "\\$&").replaceAll("\n", "'\n'"),
  "as ANSI-C, in bash": (value) => ansi(value, "\\E"),
  "as ANSI-C, in bash with the locale C": (value) => inC(ansi(value, "\\E")),
  "as ANSI-C, in fish": (value) => ansi(value, "\\e"),
  "as GNU tools do": (value) =>
    `'${value.replaceAll("'", `'\\''`).replaceAll(/\p{Cc}+|[^ -~]+/gu, (run) => `'$'${inC(controls(run, "\\033"))}''`)}'`,
  "as Python's repr does": (value) =>
    `'${controls(value.replaceAll(/[\\']/g, "\\$&"), "\\x1b", hex)}'`,
  "as Python's bytes": (value) =>
    `b'${inC(controls(value.replaceAll(/[\\']/g, "\\$&"), "\\x1b", hex), hex)}'`,
  "in a command in single quotes": (value) => single(`echo ${double(value)}`),
  "in a command in double quotes": (value) => double(`echo ${single(value)}`),
  "in a command in JSON": (value) => JSON.stringify(single(value)),
  "in an element of HTML": (value) => html(value, '"', "'"),
  "in an attribute of Python": (value) => html(value, "&quot;", "&#x27;"),
  "in an attribute of Go": (value) => html(value, "&#34;", "&#39;"),
  "in an attribute of PHP": (value) => html(value, "&quot;", "&#039;"),
  "in an attribute of XML": (value) => html(value, "&quot;", "&apos;"),
  "in numeric entities": (value) =>
    Array.from(value, (each) => `&#${each.codePointAt(0)};`).join(""),
  "in hexadecimal entities": (value) =>
    Array.from(value, (each) => `&#X${each.codePointAt(0)?.toString(16).toUpperCase()};`).join(""),
};

/** Without what quotes and backslashes are left around a mask. */
const withoutQuoting = (text: string) => text.replaceAll(/[\\'"$]/g, "");

function mask(value: string, chunks: readonly Buffer[]): string {
  const masker = prepareMaskers(secretPatterns([value]))();
  const parts = chunks.map((chunk) => masker.mask(chunk));
  return Buffer.concat([...parts, masker.flush()]).toString();
}

/** The output in one write, in one for each byte, and in two at several places. */
function maskDivided(value: string, output: Buffer): Set<string> {
  const bytes = Array.from(output, (byte) => Buffer.from([byte]));
  const cuts = Array.from({ length: 7 }, (_, at) => Math.floor((output.length * (at + 1)) / 8));
  const masker = prepareMaskers(secretPatterns([value]));
  const divided = [
    [output],
    bytes,
    ...cuts.map((cut) => [output.subarray(0, cut), output.subarray(cut)]),
  ];
  return new Set(
    divided.map((chunks) => {
      const each = masker();
      const parts = chunks.map((chunk) => each.mask(chunk));
      return Buffer.concat([...parts, each.flush()]).toString();
    }),
  );
}

/** Of which quotes in quotes leave nothing to recognize. */
const SHORT_IN_COMMANDS = ["little but quotes", "only quotes"];

const CASES = Object.entries(FORMS).flatMap(([form, write]) =>
  Object.entries(VALUES).flatMap(([kind, value]) =>
    form.includes("in a command") && SHORT_IN_COMMANDS.includes(kind)
      ? []
      : [{ form, kind, value, write }],
  ),
);

describe("a secret", () => {
  it.each(CASES)("with $kind is masked $form, however the output is divided", (each) => {
    const { value, write } = each;
    const before = write("").includes("echo") ? "echo " : "";
    const shown = maskDivided(value, Buffer.from(`x=${write(value)};\n`));
    expect(shown.size).toBe(1);
    expect(withoutQuoting([...shown].join("")).replace("=b***", "=***")).toBe(`x=${before}***;\n`);
  });

  const PROGRAMS = [
    ["bash", 'set -x; : "$SECRET"', "+ : ***"],
    ["bash", 'printf "%q\\n" "$SECRET"', "***"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it.
    ["bash", 'echo "${SECRET@Q}"', "***"],
    ["bash", "declare -p SECRET", "declare -x SECRET=***"],
    ["sh", 'set -x; : "$SECRET"', "+ : ***"],
    ["sh", "export -p", "SECRET=***"],
  ] as const;
  const runs = PROGRAMS.flatMap(([shell, command, expected]) =>
    ["C", "C.UTF-8"].map((locale) => ({ shell, command, expected, locale })),
  );

  it.each(runs)(
    "is masked in what $shell prints: $command ($locale)",
    async ({ shell, command, expected, locale }) => {
      const script = `exec 2>&1; for SECRET; do export SECRET; (${command}); printf '\\1'; done`;
      const { stdout } = await promisify(execFile)(
        shell,
        ["-c", script, shell, ...Object.values(VALUES)],
        { env: { PATH: process.env["PATH"], LC_ALL: locale } as unknown as NodeJS.ProcessEnv },
      );
      const outputs = stdout.split("\u0001");
      const shown = Object.values(VALUES).map((value, at) =>
        withoutQuoting(mask(value, [Buffer.from(outputs[at] ?? "")])),
      );
      for (const each of shown) {
        expect(each).toContain(expected);
        expect(each.replaceAll(/[^*]/g, "")).toBe("***");
      }
    },
  );

  it("is not held back by quotes without an end", () => {
    const masker = prepareMaskers(secretPatterns(["pass word"]))();
    expect(masker.mask(Buffer.from("pass")).toString()).toBe("");
    let shown = 0;
    for (let at = 0; at < 100; at += 1) shown += masker.mask(Buffer.alloc(1_000, "'")).length;
    expect(shown).toBe(100_004);
  });

  it("masks no word that has only its letters", () => {
    expect(mask(`a'"b`, [Buffer.from("ab cab")])).toBe("ab cab");
    expect(mask("hunter22", [Buffer.from("hunt'er22")])).toBe("hunt'er22");
  });
});

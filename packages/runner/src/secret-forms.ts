import { ShellScanner } from "./decoding-scanners.ts";
import type { Patterns } from "./masker.ts";

/** A shorter value would mask parts of ordinary words. */
export const MINIMUM_LENGTH = 4;
export const MINIMUM_LINE_LENGTH = 8;
const MINIMUM_BASE64_LENGTH = 6;
/** What no shell quotes. */
const PLAIN = /^[\w.-]*$/;

/** The texts by which secret values are recognized in output: themselves, and their usual encodings. */
export function secretPatterns(values: readonly string[]): Patterns {
  const secrets = values
    // `$(…)` of a shell removes the line breaks at the end of a value, and `echo $NAME` the spaces around it.
    .flatMap((value) => [value, value.replace(/[\r\n]+$/, ""), value.trim()])
    .filter(({ length }) => length >= MINIMUM_LENGTH);
  const special = secrets.filter((value) => !PLAIN.test(value));
  const quoted = special.filter((value) => !isFoundInside(value)).flatMap(quotedForms);
  return {
    exact: toBuffers([
      ...secrets.flatMap((value) => [value, ...linesOf(value), ...jsonForms(value)]),
      ...quoted,
    ]),
    base64: toBuffers(secrets.flatMap((value) => base64Forms(Buffer.from(value)))),
    // A form has `+` for a space.
    encoded: toBuffers(secrets.flatMap((value) => [value, value.replaceAll(" ", "+")])),
    shell: toBuffers(
      special
        .flatMap((value) => [value, ...ansiForms(value)])
        .map(ShellScanner.withoutQuoting)
        .filter(({ length }) => length >= MINIMUM_LENGTH),
    ),
  };
}

/** Programs print the lines of a value with other line ends, or with other text between them. */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/);
  if (lines.length === 1) return [];
  const parts = lines.map((line) => line.trim());
  return [
    lines.join("\n"),
    lines.join("\r\n"),
    ...parts.filter(({ length }) => length >= MINIMUM_LINE_LENGTH),
  ];
}

/** As JavaScript writes it; as Go and .NET do; in ASCII, as Python does; with `\/`, as PHP does. */
function jsonForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = json.replaceAll(/[^\0-\x7f]/g, toUnicodeEscape);
  const slashes = [json, ascii].map((each) => each.replaceAll("/", "\\/"));
  const go = json.replaceAll(/[<>&\u2028\u2029]/g, toUnicodeEscape);
  const dotnet = json
    .replaceAll('\\"', "\\u0022")
    .replaceAll(/[^\0-\x7e]|[<>&'+`]/g, toUnicodeEscape);
  const forms = [json, go, ascii, dotnet, ...slashes];
  const upperCase = forms.map((form) =>
    form.replaceAll(/\\u[0-9a-f]{4}/g, (each) => `\\u${each.slice(2).toUpperCase()}`),
  );
  return [...forms, ...upperCase];
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Alone, and within the base64 of a longer text, where its bytes begin at one of three places in a group. */
function base64Forms(bytes: Buffer): string[] {
  const whole = bytes.toString("base64");
  const within = [0, 1, 2].map((shift) => {
    const shifted = Buffer.concat([Buffer.alloc(shift), bytes]);
    // A character has 6 bits. The first and the last may also have bits of what is beside the value.
    const [from, to] = [Math.ceil((shift * 8) / 6), Math.floor((shifted.length * 8) / 6)];
    return shifted.toString("base64").slice(from, to);
  });
  const longEnough = within.filter(({ length }) => length >= MINIMUM_BASE64_LENGTH);
  return [whole, whole.replace(/=+$/, ""), ...longEnough];
}

/** Whether the value without quotes and backslashes is long enough, and begins and ends as the value does. */
function isFoundInside(value: string): boolean {
  const { length } = ShellScanner.withoutQuoting(value);
  return length >= MINIMUM_LENGTH && !/^[\\'"]|[\\'"]$/.test(value);
}

/** As bash, dash, `printf %q`, `export -p` and other languages quote a value. */
function quotedForms(value: string): string[] {
  return [
    value.replaceAll("'", "'\\''"),
    value.replaceAll("'", "'\"'\"'"),
    value.replaceAll("'", "''"),
    value.replaceAll('"', '""'),
    value.replaceAll(/[\\']/g, "\\$&"),
    value.replaceAll(/[\\"$`]/g, "\\$&"),
    value.replaceAll(/[\\"$`!]/g, "\\$&"),
    value.replaceAll(/(?![\w.:@%/+=~#-])[ -~]/g, "\\$&"),
    value.replaceAll(/(?![\w.:@/+,-])[ -~]/g, "\\$&"),
  ];
}

const LETTERS: Readonly<Record<number, string>> = {
  7: "a",
  8: "b",
  9: "t",
  10: "n",
  11: "v",
  12: "f",
  13: "r",
};
const UNPRINTABLE = /[^ -~]/;
const ESCAPE = 0x1b;
const toOctal = (byte: number) => byte.toString(8).padStart(3, "0");
const toHex = (byte: number) => `x${byte.toString(16).padStart(2, "0")}`;
const toOctalOr = (letter: string) => (byte: number) => (byte === ESCAPE ? letter : toOctal(byte));

/** bash, fish, `ls -b`, other GNU tools, which quote only a part so, and languages such as Python. */
const ANSI_STYLES = [
  { before: "", toNumber: toOctalOr("E") },
  { before: "", toNumber: toOctalOr("e") },
  { before: "", toNumber: toOctal },
  { before: "$", toNumber: toOctal },
  { before: "", toNumber: toHex },
];

/** As in `$'…'`, without the backslashes. */
function ansiForms(value: string): string[] {
  if (!UNPRINTABLE.test(value)) return [];
  const forms = [/\p{Cc}+/gu, /[^ -~]+/g].flatMap((escaped) =>
    ANSI_STYLES.map(({ before, toNumber }) =>
      value.replaceAll(escaped, (run) => {
        const bytes = [...Buffer.from(run)];
        return before + bytes.map((byte) => LETTERS[byte] ?? toNumber(byte)).join("");
      }),
    ),
  );
  return [...new Set(forms)];
}

function toBuffers(texts: readonly string[]): Buffer[] {
  return [...new Set(texts)].map((text) => Buffer.from(text));
}

import { DecodingScanner } from "./scanner.ts";

const LF = 0x0a;
const CR = 0x0d;

/** The characters of the URL-safe alphabet count as those of the standard one. */
const STANDARD = Uint8Array.from({ length: 256 }, (_, byte) => byte);
STANDARD["-".charCodeAt(0)] = "+".charCodeAt(0);
STANDARD["_".charCodeAt(0)] = "/".charCodeAt(0);

/**
 * Finds patterns of base64, in both alphabets, also with a line break between any two characters:
 * where a longer text is wrapped, the breaks can be anywhere in the part that encodes a value.
 */
export class Base64Scanner extends DecodingScanner {
  /** The last byte of the line break before the next character, or 0. */
  #lineBreak = 0;
  protected readonly pending = 0;

  static toStandard(pattern: Uint8Array): Uint8Array {
    return pattern.map((byte) => STANDARD[byte] ?? byte);
  }

  protected read(byte: number): void {
    if (this.#skipsLineBreak(byte)) return;
    this.#lineBreak = 0;
    this.add(STANDARD[byte] ?? byte, this.position, this.position + 1);
  }

  /** One line break: a CR, an LF, or both. */
  #skipsLineBreak(byte: number): boolean {
    if (byte !== LF && byte !== CR) return false;
    const isSecond = byte === CR ? this.#lineBreak !== 0 : this.#lineBreak === LF;
    if (!this.isInPattern || isSecond) return false;
    this.#lineBreak = byte;
    return true;
  }
}

/** Decodes escapes, each of which begins with the same character. */
abstract class EscapeScanner extends DecodingScanner {
  /** The bytes of an escape that is not complete. */
  #escape: number[] = [];

  protected get pending(): number {
    return this.#escape.length;
  }

  protected abstract readonly first: number;

  /** The bytes that an escape stands for. Undefined: it needs more; none: it is no escape. */
  protected abstract decode(bytes: readonly number[]): readonly number[] | undefined;

  protected read(byte: number): void {
    if (this.#escape.length === 0 && byte !== this.first) {
      this.add(byte, this.position, this.position + 1);
      return;
    }
    if (byte === this.first) this.#readLiterally();
    this.#escape.push(byte);
    const decoded = this.decode(this.#escape);
    if (decoded === undefined) return;
    const end = this.position + 1;
    const start = end - this.#escape.length;
    if (decoded.length === 0) this.#readLiterally(1);
    else this.#escape = [];
    for (const each of decoded) this.add(each, start, end);
  }

  /** What looked like an escape is none. @param read Of its bytes, how many are not before this position. */
  #readLiterally(read = 0): void {
    const start = this.position + read - this.#escape.length;
    const bytes = this.#escape;
    this.#escape = [];
    for (const [at, byte] of bytes.entries()) this.add(byte, start + at, start + at + 1);
  }
}

/** Finds the patterns in a stream of which any bytes may be percent-encoded (RFC 3986, 2.1). */
export class PercentScanner extends EscapeScanner {
  protected readonly first = "%".charCodeAt(0);

  protected decode(bytes: readonly number[]): readonly number[] | undefined {
    const digits = String.fromCharCode(...bytes.slice(1));
    if (!/^[0-9A-Fa-f]*$/.test(digits)) return [];
    return digits.length === 2 ? [Number.parseInt(digits, 16)] : undefined;
  }
}

const SEMICOLON = ";".charCodeAt(0);
const NAMES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};
/** Longer than `&#1114111;`. */
const MAXIMUM_ENTITY = 12;

/** Finds the patterns in a stream of which any characters may be references of HTML or XML, as `&amp;`. */
export class HtmlScanner extends EscapeScanner {
  protected readonly first = "&".charCodeAt(0);

  protected decode(bytes: readonly number[]): readonly number[] | undefined {
    const text = String.fromCharCode(...bytes.slice(1));
    if (bytes.at(-1) === SEMICOLON) return [...Buffer.from(toCharacter(text.slice(0, -1)))];
    return bytes.length < MAXIMUM_ENTITY && /^#?[0-9A-Za-z]*$/.test(text) ? undefined : [];
  }
}

function toCharacter(name: string): string {
  const [, digits, hexDigits] = /^#(?:(\d+)|[xX]([0-9A-Fa-f]+))$/.exec(name) ?? [];
  const code = digits ? Number(digits) : Number.parseInt(hexDigits ?? "", 16);
  if (code <= 0x10ffff) return String.fromCodePoint(code);
  return Object.hasOwn(NAMES, name) ? (NAMES[name] ?? "") : "";
}

/** What shells, and languages with strings like theirs, add where they quote. */
const QUOTING: ReadonlySet<number> = new Set(Buffer.from("\\'\""));
/** Between two characters. It bounds what is held back; a value with as many quotes in a row is rare. */
const MAXIMUM_QUOTING = 64;

/** Finds the patterns in a stream without its quotes and backslashes: no pattern has any. */
export class ShellScanner extends DecodingScanner {
  #skipped = 0;
  protected readonly pending = 0;

  static withoutQuoting(text: string): string {
    return text.replaceAll(/[\\'"]/g, "");
  }

  protected read(byte: number): void {
    if (!QUOTING.has(byte)) {
      this.#skipped = 0;
      this.add(byte, this.position, this.position + 1);
    } else {
      this.#skipped += 1;
      if (this.#skipped > MAXIMUM_QUOTING) this.forget();
    }
  }
}

import { PatternAutomaton } from "./automaton.ts";

const LF = 0x0a;
const CR = 0x0d;

/** Positions in the stream. */
export interface Match {
  start: number;
  end: number;
}

/** Finds the patterns in a stream of bytes. */
export interface Scanner {
  /** Returns the longest match that ends with each byte, in order. */
  scan(chunk: Uint8Array): Match[];
  /** The position of the first byte that may be part of a match with the bytes that follow. */
  readonly heldFrom: number;
}

export class ExactScanner implements Scanner {
  readonly #automaton: PatternAutomaton;
  #state = 0;
  #position = 0;

  constructor(automaton: PatternAutomaton) {
    this.#automaton = automaton;
  }

  get heldFrom(): number {
    return this.#position - this.#automaton.heldLength(this.#state);
  }

  scan(chunk: Uint8Array): Match[] {
    const automaton = this.#automaton;
    const matches: Match[] = [];
    let state = this.#state;
    let end = this.#position;
    for (const byte of chunk) {
      end += 1;
      state = automaton.next(state, byte);
      const length = automaton.matchLength(state);
      if (length > 0) matches.push({ start: end - length, end });
    }
    this.#state = state;
    this.#position = end;
    return matches;
  }
}

/** The characters of the URL-safe alphabet count as those of the standard one. */
const STANDARD = Uint8Array.from({ length: 256 }, (_, byte) => byte);
STANDARD["-".charCodeAt(0)] = "+".charCodeAt(0);
STANDARD["_".charCodeAt(0)] = "/".charCodeAt(0);

/**
 * Finds patterns of base64, in both alphabets, also with a line break between any two characters:
 * where a longer text is wrapped, the breaks can be anywhere in the part that encodes a value.
 */
export class Base64Scanner implements Scanner {
  readonly #automaton: PatternAutomaton;
  /** The positions of the last characters that are no line breaks. */
  readonly #positions: Float64Array;
  #index = 0;
  #state = 0;
  #position = 0;
  /** The last byte of the line break before the next character, or 0. */
  #lineBreak = 0;

  constructor(automaton: PatternAutomaton) {
    this.#automaton = automaton;
    this.#positions = new Float64Array(automaton.maximumLength);
  }

  static createAutomaton(patterns: readonly Uint8Array[]): PatternAutomaton {
    return new PatternAutomaton(patterns.map((each) => each.map((byte) => STANDARD[byte] ?? byte)));
  }

  get heldFrom(): number {
    const length = this.#automaton.heldLength(this.#state);
    return length === 0 ? this.#position : this.#startOf(length);
  }

  scan(chunk: Uint8Array): Match[] {
    const matches: Match[] = [];
    for (const byte of chunk) {
      const length = this.#skipsLineBreak(byte) ? 0 : this.#read(byte);
      this.#position += 1;
      if (length > 0) matches.push({ start: this.#startOf(length), end: this.#position });
    }
    return matches;
  }

  #read(byte: number): number {
    this.#lineBreak = 0;
    this.#positions[this.#index] = this.#position;
    this.#index = this.#index + 1 === this.#positions.length ? 0 : this.#index + 1;
    this.#state = this.#automaton.next(this.#state, STANDARD[byte] ?? byte);
    return this.#automaton.matchLength(this.#state);
  }

  /** One line break: a CR, an LF, or both. */
  #skipsLineBreak(byte: number): boolean {
    if (byte !== LF && byte !== CR) return false;
    const isSecond = byte === CR ? this.#lineBreak !== 0 : this.#lineBreak === LF;
    if (this.#state === 0 || isSecond) return false;
    this.#lineBreak = byte;
    return true;
  }

  #startOf(length: number): number {
    const index = this.#index - length;
    return this.#positions[index < 0 ? index + this.#positions.length : index] ?? 0;
  }
}

const PERCENT = "%".charCodeAt(0);

/** Finds the patterns in a stream of which any bytes may be percent-encoded (RFC 3986, 2.1). */
export class PercentScanner implements Scanner {
  readonly #automaton: PatternAutomaton;
  /** The positions of the last decoded bytes. */
  readonly #positions: Float64Array;
  #index = 0;
  #state = 0;
  #position = 0;
  /** The bytes of an escape that is not complete. */
  #escape: number[] = [];

  constructor(automaton: PatternAutomaton) {
    this.#automaton = automaton;
    this.#positions = new Float64Array(automaton.maximumLength);
  }

  get heldFrom(): number {
    const length = this.#automaton.heldLength(this.#state);
    return length === 0 ? this.#position - this.#escape.length : this.#startOf(length);
  }

  scan(chunk: Uint8Array): Match[] {
    const matches: Match[] = [];
    for (const byte of chunk) {
      this.#read(byte, matches);
      this.#position += 1;
    }
    return matches;
  }

  #read(byte: number, matches: Match[]): void {
    const isPart = this.#escape.length === 0 ? byte === PERCENT : isHexDigit(byte);
    if (!isPart) {
      if (this.#escape.length > 0) this.#readLiterally(matches);
      if (byte === PERCENT) this.#escape = [byte];
      else this.#decoded(byte, this.#position, this.#position + 1, matches);
      return;
    }
    this.#escape.push(byte);
    if (this.#escape.length < 3) return;
    const [, high = 0, low = 0] = this.#escape;
    this.#escape = [];
    const value = Number.parseInt(String.fromCharCode(high, low), 16);
    this.#decoded(value, this.#position - 2, this.#position + 1, matches);
  }

  /** What looked like an escape is none. */
  #readLiterally(matches: Match[]): void {
    const start = this.#position - this.#escape.length;
    const bytes = this.#escape;
    this.#escape = [];
    for (const [at, byte] of bytes.entries()) {
      this.#decoded(byte, start + at, start + at + 1, matches);
    }
  }

  #decoded(byte: number, start: number, end: number, matches: Match[]): void {
    this.#positions[this.#index] = start;
    this.#index = this.#index + 1 === this.#positions.length ? 0 : this.#index + 1;
    this.#state = this.#automaton.next(this.#state, byte);
    const length = this.#automaton.matchLength(this.#state);
    if (length > 0) matches.push({ start: this.#startOf(length), end });
  }

  #startOf(length: number): number {
    const index = this.#index - length;
    return this.#positions[index < 0 ? index + this.#positions.length : index] ?? 0;
  }
}

function isHexDigit(byte: number): boolean {
  return /[0-9A-Fa-f]/.test(String.fromCharCode(byte));
}

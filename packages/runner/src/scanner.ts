import type { PatternAutomaton } from "./automaton.ts";

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

/** Finds the patterns in what a stream decodes to. */
export abstract class DecodingScanner implements Scanner {
  readonly #automaton: PatternAutomaton;
  /** Where the last decoded bytes begin in the stream. */
  readonly #starts: Float64Array;
  #index = 0;
  #state = 0;
  #matches: Match[] = [];
  /** Of the byte that is read. */
  protected position = 0;

  constructor(automaton: PatternAutomaton) {
    this.#automaton = automaton;
    this.#starts = new Float64Array(automaton.maximumLength);
  }

  /** Decodes the next byte of the stream. */
  protected abstract read(byte: number): void;

  /** The number of bytes that are read and not decoded. */
  protected abstract get pending(): number;

  /** Whether the last decoded bytes begin a pattern. */
  protected get isInPattern(): boolean {
    return this.#state !== 0;
  }

  get heldFrom(): number {
    const length = this.#automaton.heldLength(this.#state);
    return length === 0 ? this.position - this.pending : this.#startOf(length);
  }

  scan(chunk: Uint8Array): Match[] {
    this.#matches = [];
    for (const byte of chunk) {
      this.read(byte);
      this.position += 1;
    }
    return this.#matches;
  }

  /** Adds a byte that is encoded from `start` to `end`. */
  protected add(byte: number, start: number, end: number): void {
    this.#state = this.#automaton.next(this.#state, byte);
    // Most bytes begin no pattern, so that nobody asks where they are.
    if (this.#state === 0) return;
    this.#starts[this.#index] = start;
    this.#index = this.#index + 1 === this.#starts.length ? 0 : this.#index + 1;
    const length = this.#automaton.matchLength(this.#state);
    if (length > 0) this.#matches.push({ start: this.#startOf(length), end });
  }

  /** Nothing before this place is a part of a match. */
  protected forget(): void {
    this.#state = 0;
  }

  #startOf(length: number): number {
    const index = this.#index - length;
    return this.#starts[index < 0 ? index + this.#starts.length : index] ?? 0;
  }
}

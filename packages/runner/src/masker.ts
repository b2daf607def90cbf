import { PatternAutomaton } from "./automaton.ts";
import { HeldBytes } from "./held-bytes.ts";
import {
  Base64Scanner,
  ExactScanner,
  type Match,
  PercentScanner,
  type Scanner,
} from "./scanner.ts";

const MASK = Buffer.from("***");

export interface Patterns {
  exact: readonly Uint8Array[];
  /** Found in both alphabets, and across line breaks. */
  base64: readonly Uint8Array[];
  /** Found with any of their bytes percent-encoded. */
  percent: readonly Uint8Array[];
}

/** Returns a function that creates a masker for one stream. */
export function prepareMaskers({ exact, base64, percent }: Patterns): () => Masker {
  const exactAutomaton = new PatternAutomaton(exact);
  const percentAutomaton = new PatternAutomaton(percent);
  const base64Automaton = Base64Scanner.createAutomaton(base64);
  return () =>
    new Masker([
      ...(exact.length > 0 ? [new ExactScanner(exactAutomaton)] : []),
      ...(base64.length > 0 ? [new Base64Scanner(base64Automaton)] : []),
      ...(percent.length > 0 ? [new PercentScanner(percentAutomaton)] : []),
    ]);
}

/**
 * Replaces each run of bytes that are in an occurrence of a pattern by `***`. The result does not depend
 * on how the stream is divided: bytes that may begin a pattern are held back.
 */
export class Masker {
  readonly #scanners: readonly Scanner[];
  readonly #held = new HeldBytes();
  readonly #matches = new MatchQueue();
  #position = 0;
  /** Everything before this position is released. */
  #released = 0;
  /** The end of the last match whose mask is released. */
  #maskedUntil = -1;

  constructor(scanners: readonly Scanner[]) {
    this.#scanners = scanners;
  }

  /** Whether nothing is held back. */
  get isIdle(): boolean {
    return this.#released === this.#position;
  }

  /** Returns what can be shown now. */
  mask(chunk: Uint8Array): Buffer {
    this.#held.append(chunk);
    this.#position += chunk.length;
    const matches = this.#scanners.flatMap((scanner) => scanner.scan(chunk));
    for (const match of matches.sort((one, other) => one.end - other.end)) this.#add(match);
    const starts = this.#scanners.map(({ heldFrom }) => heldFrom);
    return this.#release(Math.min(this.#position, ...starts));
  }

  /** Returns the rest. The stream has ended. */
  flush(): Buffer {
    return this.#release(this.#position);
  }

  /** Adds a match that does not end before those that were added. */
  #add({ start, end }: Match): void {
    const first = this.#matches.takeFrom(start);
    if (first <= this.#maskedUntil) {
      // It continues a match whose mask is released.
      this.#maskedUntil = end;
      this.#released = end;
    } else this.#matches.push({ start: first, end });
  }

  /** A match that begins before the limit can only become longer. */
  #release(limit: number): Buffer {
    const shown: Buffer[] = [];
    let match = this.#matches.takeBefore(limit);
    while (match) {
      shown.push(this.#held.read(this.#released, match.start), MASK);
      this.#released = match.end;
      this.#maskedUntil = match.end;
      match = this.#matches.takeBefore(limit);
    }
    if (this.#released < limit) {
      shown.push(this.#held.read(this.#released, limit));
      this.#released = limit;
    }
    const output = Buffer.concat(shown);
    this.#held.dropBefore(this.#released);
    return output;
  }
}

/** Matches that are not released, in order. No two overlap or touch. */
class MatchQueue {
  #matches: Match[] = [];
  #first = 0;

  push(match: Match): void {
    this.#matches.push(match);
  }

  /** Removes those that overlap or touch a match from `start` on. Returns where they all start. */
  takeFrom(start: number): number {
    let first = start;
    while (this.#matches.length > this.#first) {
      const last = this.#matches.at(-1);
      if (!last || last.end < start) break;
      first = Math.min(first, last.start);
      this.#matches.pop();
    }
    return first;
  }

  takeBefore(limit: number): Match | undefined {
    const match = this.#matches[this.#first];
    if (!match || match.start >= limit) return undefined;
    this.#first += 1;
    if (this.#first * 2 > this.#matches.length) {
      this.#matches = this.#matches.slice(this.#first);
      this.#first = 0;
    }
    return match;
  }
}

import { PatternAutomaton } from "./automaton.ts";
import { Base64Scanner, HtmlScanner, PercentScanner, ShellScanner } from "./decoding-scanners.ts";
import { HeldBytes } from "./held-bytes.ts";
import { ExactScanner, type Match, type Scanner } from "./scanner.ts";

const MASK = Buffer.from("***");

export interface Patterns {
  exact: readonly Uint8Array[];
  /** Found in both alphabets, and across line breaks. */
  base64: readonly Uint8Array[];
  /** Found with any of their bytes percent-encoded, or any of their characters as references of HTML. */
  encoded: readonly Uint8Array[];
  /** Found with quotes and backslashes anywhere. They have none. */
  shell: readonly Uint8Array[];
}

/** Returns a function that creates a masker for one stream. */
export function prepareMaskers(patterns: Patterns): () => Masker {
  const creators = [
    scannersOf(patterns.exact, (automaton) => new ExactScanner(automaton)),
    scannersOf(
      patterns.encoded,
      (automaton) => new PercentScanner(automaton),
      (automaton) => new HtmlScanner(automaton),
    ),
    scannersOf(patterns.shell, (automaton) => new ShellScanner(automaton)),
    scannersOf(
      patterns.base64.map(Base64Scanner.toStandard),
      (automaton) => new Base64Scanner(automaton),
    ),
  ];
  return () => new Masker(creators.flatMap((create) => create()));
}

/** All scanners share the automaton. Without patterns, there is none. */
function scannersOf(
  patterns: readonly Uint8Array[],
  ...create: readonly ((automaton: PatternAutomaton) => Scanner)[]
): () => Scanner[] {
  if (patterns.length === 0) return () => [];
  const automaton = new PatternAutomaton(patterns);
  return () => create.map((each) => each(automaton));
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

  /** Adds a match. What looked like an escape may be found to be none after a later match was added. */
  #add(match: Match): void {
    const { start, end } = this.#matches.takeWith(match);
    if (start <= this.#maskedUntil) {
      // It continues a match whose mask is released.
      this.#maskedUntil = Math.max(this.#maskedUntil, end);
      this.#released = this.#maskedUntil;
    } else this.#matches.push({ start, end });
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

  /** Removes those that end where a match begins or later. Returns all of them as one. */
  takeWith({ start, end }: Match): Match {
    const all = { start, end };
    while (this.#matches.length > this.#first) {
      const last = this.#matches.at(-1);
      if (!last || last.end < start) break;
      all.start = Math.min(all.start, last.start);
      all.end = Math.max(all.end, last.end);
      this.#matches.pop();
    }
    return all;
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

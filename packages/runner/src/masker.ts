import { PatternAutomaton } from "./automaton.ts";

const MASK = Buffer.from("***");
const START = 0;

/** Positions in the stream. */
interface Match {
  start: number;
  end: number;
}

/**
 * Replaces each run of bytes that are in an occurrence of a pattern by `***`. The result does not depend
 * on how the stream is divided: bytes that may begin a pattern are held back.
 */
export class Masker {
  readonly #automaton: PatternAutomaton;
  #state = START;
  #position = 0;
  /** Everything before this position is released. */
  #released = 0;
  /** The bytes from there on. */
  #held: Buffer[] = [];
  /** In order, without overlaps, of the bytes that are held. */
  #matches: Match[] = [];
  /** Whether the last released byte was masked. */
  #isInMatch = false;

  constructor(patterns: readonly Uint8Array[]) {
    this.#automaton = new PatternAutomaton(patterns);
  }

  /** Returns what can be shown now. */
  mask(chunk: Buffer): Buffer {
    this.#held.push(chunk);
    const { depths, matchLengths } = this.#automaton;
    for (const byte of chunk) {
      this.#state = this.#automaton.next(this.#state, byte);
      this.#position += 1;
      const length = matchLengths[this.#state] ?? 0;
      if (length > 0) this.#add({ start: this.#position - length, end: this.#position });
    }
    return this.#release(this.#position - (depths[this.#state] ?? 0));
  }

  /** Returns the rest. What follows is another stream. */
  flush(): Buffer {
    const rest = this.#release(this.#position);
    this.#state = START;
    this.#isInMatch = false;
    return rest;
  }

  /** Joins it with those that it overlaps or touches. It ends after all others. */
  #add(match: Match): void {
    let { start } = match;
    for (let last = this.#matches.at(-1); last && last.end >= start; last = this.#matches.at(-1)) {
      start = Math.min(start, last.start);
      this.#matches.pop();
    }
    this.#matches.push({ start, end: match.end });
  }

  #release(until: number): Buffer {
    const shown: Buffer[] = [];
    let done = 0;
    while (this.#released < until) {
      const match = this.#matches[done];
      const isMasked = match !== undefined && match.start <= this.#released;
      const end = Math.min(until, (isMasked ? match.end : match?.start) ?? until);
      const bytes = this.#take(end - this.#released);
      if (!isMasked) shown.push(...bytes);
      else if (!this.#isInMatch) shown.push(MASK);
      this.#isInMatch = isMasked;
      this.#released = end;
      if (isMasked && end === match.end) done += 1;
    }
    this.#matches.splice(0, done);
    return Buffer.concat(shown);
  }

  /** Removes so many of the held bytes. */
  #take(length: number): Buffer[] {
    const taken: Buffer[] = [];
    let left = length;
    let whole = 0;
    for (const buffer of this.#held) {
      if (buffer.length > left) break;
      taken.push(buffer);
      left -= buffer.length;
      whole += 1;
    }
    this.#held.splice(0, whole);
    const [next] = this.#held;
    if (left > 0 && next) {
      taken.push(next.subarray(0, left));
      this.#held[0] = next.subarray(left);
    }
    return taken;
  }
}

/**
 * Work that waits in one line and drains at a constant rate, of which a burst may be ahead. Once nothing waits,
 * the next piece starts at once, however large it is. Counts in units, and times in milliseconds.
 */
export class LeakyBucket {
  readonly #unitsPerMs: number;
  readonly #burst: number;
  /** All that was ever added. */
  #added = 0;
  /** All that was ever drained. The difference is in the bucket. */
  #drained = 0;
  #at = 0;

  constructor(unitsPerMs: number, burst: number) {
    this.#unitsPerMs = unitsPerMs;
    this.#burst = burst;
  }

  /** Adds work to the end of the line, and returns its position. */
  add(units: number, now: number): number {
    this.#drain(now);
    const position = this.#added;
    this.#added += units;
    return position;
  }

  /** Adds work that nobody has waited for: it delays what waits, too. */
  addPast(units: number, now: number): void {
    this.#drain(now);
    this.#drained -= units;
  }

  /** Work that was added does not take place. */
  remove(units: number, now: number): void {
    this.#drain(now);
    this.#drained = Math.min(this.#added, this.#drained + units);
  }

  /** Until work may start: at this position, or if it were added now. Of two positions, the first is never later. */
  waitMs(units: number, now: number, position?: number): number {
    this.#drain(now);
    const ahead = (position ?? this.#added) - Math.max(0, this.#burst - units) - this.#drained;
    return Math.max(0, ahead / this.#unitsPerMs);
  }

  #drain(now: number): void {
    const elapsedMs = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    this.#drained = Math.min(this.#added, this.#drained + elapsedMs * this.#unitsPerMs);
  }
}

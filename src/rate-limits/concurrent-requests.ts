/** Counts the requests in this isolate only. */
export class ConcurrentRequests {
  readonly #counts = new Map<string, number>();

  /** Returns how many others are in progress. Ends with `end`. */
  begin(key: string): number {
    const others = this.#counts.get(key) ?? 0;
    this.#counts.set(key, others + 1);
    return others;
  }

  end(key: string): void {
    const remaining = (this.#counts.get(key) ?? 1) - 1;
    if (remaining > 0) this.#counts.set(key, remaining);
    else this.#counts.delete(key);
  }
}

/** Counts the requests of each key that an isolate has in progress. */
export class RequestsInProgress {
  readonly #counts = new Map<string, number>();

  /** Calls `run` with how many other requests of the key are in progress, and counts it meanwhile. */
  async run<Result>(key: string, run: (others: number) => Promise<Result>): Promise<Result> {
    const others = this.#counts.get(key) ?? 0;
    this.#counts.set(key, others + 1);
    try {
      return await run(others);
    } finally {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }
}

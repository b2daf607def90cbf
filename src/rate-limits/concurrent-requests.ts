/** Counts the requests in this isolate only. */
export class ConcurrentRequests {
  readonly #counts = new Map<string, number>();

  async track<Result>(key: string, run: (others: number) => Promise<Result>): Promise<Result> {
    const others = this.#counts.get(key) ?? 0;
    this.#counts.set(key, others + 1);
    try {
      return await run(others);
    } finally {
      const remaining = (this.#counts.get(key) ?? 1) - 1;
      if (remaining > 0) this.#counts.set(key, remaining);
      else this.#counts.delete(key);
    }
  }
}

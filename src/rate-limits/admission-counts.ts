import { WINDOW_MS } from "./policies.ts";

export type StoredCounts = [at: number, count: number][];

export interface Expiration {
  count: number;
  until: number;
}

/** How many requests were admitted at which time. Times are rounded up to a step, which bounds the size. */
export class AdmissionCounts {
  readonly #stepMs: number;
  readonly #counts: Map<number, number>;

  constructor(stepMs: number, stored: StoredCounts = []) {
    this.#stepMs = stepMs;
    this.#counts = new Map(stored);
  }

  get stored(): StoredCounts {
    return [...this.#counts];
  }

  get total(): number {
    return sum(this.#counts.values());
  }

  get expirations(): Expiration[] {
    return [...this.#counts].map(([at, count]) => ({ count, until: at + WINDOW_MS }));
  }

  add(time: number, count: number): void {
    const at = Math.ceil(time / this.#stepMs) * this.#stepMs;
    this.#counts.set(at, (this.#counts.get(at) ?? 0) + count);
  }

  dropExpired(now: number): void {
    for (const at of this.#counts.keys()) if (at <= now - WINDOW_MS) this.#counts.delete(at);
  }
}

/** The time from which fewer than `limit` are left: `now` if that is so already. */
export function whenBelow(limit: number, expirations: readonly Expiration[], now: number): number {
  let excess = sum(expirations.map(({ count }) => count)) - limit;
  let time = now;
  for (const { count, until } of expirations.toSorted((a, b) => a.until - b.until)) {
    if (excess < 0) break;
    excess -= count;
    time = until;
  }
  return time;
}

export function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

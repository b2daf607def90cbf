import { BoundedMap } from "../../../lib/bounded-map.ts";

/** So long an integration is held to be slow that a batch has waited for in vain. */
const REMEMBERED_MS = 60_000;
const REMEMBERED = 1_000;
/** With so many requests under way, batches wait for whatever it be: an isolate has its limits. */
const MANY = 500;

/**
 * Which deliveries a batch waits for: not for those to an integration that has kept one waiting
 * shortly before. It is what an isolate knows of it; to know nothing costs a little time alone.
 */
export class Patience {
  readonly #slow = new BoundedMap<string, number>(REMEMBERED);
  #underWay = 0;

  isWorthWaiting(integrationId: string, now: number): boolean {
    return this.#underWay >= MANY || (this.#slow.get(integrationId) ?? 0) <= now;
  }

  /** A batch has waited for it in vain, or has not waited at all. */
  lose(integrationId: string, now: number): void {
    this.#slow.set(integrationId, now + REMEMBERED_MS);
  }

  /** Counts what is under way. */
  async watch<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
    }
  }
}

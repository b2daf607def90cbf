import type { SystemContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";

export const ROWS = LIMITS.purgeRows.value;

/** Leaves the database to requests for most of the time: D1 runs one statement at a time. */
export const PAUSES_PER_BATCH = 4;

/** Of organizations, of other resources, and of expired rows. */
export const PARTS = 3;

/** Each of its parts has a third of the limits, and what the parts before it have left. */
export class PurgeRun {
  readonly #ctx: SystemContext;
  readonly #startedAt: number;
  #parts = 0;
  #endsAt = 0;
  #batches = 0;

  constructor(ctx: SystemContext) {
    this.#ctx = ctx;
    this.#startedAt = ctx.clock.now();
  }

  startPart(): void {
    this.#parts += 1;
    const partMs = LIMITS.purgeMs.value / PARTS;
    // The last batch of the part before may have taken longer than its time.
    this.#endsAt = Math.max(this.#startedAt + this.#parts * partMs, this.#ctx.clock.now() + partMs);
  }

  isPartOver(): boolean {
    const batches = (this.#parts * LIMITS.purgeBatches.value) / PARTS;
    return this.#batches >= batches || this.#ctx.clock.now() >= this.#endsAt;
  }

  /** Whether the batch has deleted a row. */
  async deletes(statements: Statements): Promise<boolean> {
    const { db, clock } = this.#ctx;
    this.#batches += 1;
    const startedAt = clock.now();
    const deleted = countChanges(await batch(db, statements));
    if (deleted === 0) return false;
    await pause(PAUSES_PER_BATCH * (clock.now() - startedAt));
    return true;
  }
}

/** Of the results of a batch of deletions. */
function countChanges(results: object): number {
  if ("meta" in results) return (results as D1Result).meta.changes;
  return Object.values(results).reduce((sum: number, each: object) => sum + countChanges(each), 0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

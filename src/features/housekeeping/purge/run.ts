import type { SystemContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { describeError } from "../../../lib/log.ts";

export const ROWS = LIMITS.purgeRows.value;

/** Leaves the database to requests for most of the time: D1 runs one statement at a time. */
export const PAUSES_PER_BATCH = 4;

/** Of organizations, of other resources, of expired rows, and of history beyond a share. */
export const PARTS = 4;

/** Yields after each batch that counts toward the limits of a run: one that has deleted a row. */
export type Steps = AsyncGenerator<void, void, void>;

/** Each of its parts has an equal share of the limits, and what the parts before it have left. */
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

  /** One step of each in turn, so that none waits for another to end, until the limits are reached. */
  async runPart(tasks: readonly Steps[]): Promise<void> {
    this.#startPart();
    let waiting = tasks;
    while (waiting.length > 0) {
      const unfinished: Steps[] = [];
      for (const task of waiting) {
        if (this.#isPartOver()) return;
        if ((await task.next()).done) continue;
        this.#batches += 1;
        unfinished.push(task);
      }
      waiting = unfinished;
    }
  }

  /** Whether the batch has deleted a row. */
  async deletes(statements: Statements): Promise<boolean> {
    const { db, clock } = this.#ctx;
    const startedAt = clock.now();
    const deleted = countChanges(await batch(db, statements));
    if (deleted === 0) return false;
    await pause(PAUSES_PER_BATCH * (clock.now() - startedAt));
    return true;
  }

  #startPart(): void {
    this.#parts += 1;
    const partMs = LIMITS.purgeMs.value / PARTS;
    // The last batch of the part before may have taken longer than its time.
    this.#endsAt = Math.max(this.#startedAt + this.#parts * partMs, this.#ctx.clock.now() + partMs);
  }

  #isPartOver(): boolean {
    const batches = (this.#parts * LIMITS.purgeBatches.value) / PARTS;
    return this.#batches >= batches || this.#ctx.clock.now() >= this.#endsAt;
  }
}

/** Ends with an error in the log if they fail: the others do not wait for it. The next run tries again. */
export async function* logFailure(ctx: SystemContext, what: object, steps: Steps): Steps {
  try {
    yield* steps;
  } catch (error) {
    ctx.log("error", "purge.failed", { ...what, ...describeError(error) });
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

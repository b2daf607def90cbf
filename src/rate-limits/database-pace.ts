import { BoundedMap } from "../lib/bounded-map.ts";
import { LIMITS } from "../lib/limits.ts";
import { LeakyBucket } from "./leaky-bucket.ts";
import type { LimitedRequest } from "./limited-request.ts";
import { BUDGETS, type BudgetName, budgetOf, WINDOW_MS } from "./policies.ts";
import { FIFTHS, SHARED_FIFTHS } from "./shared-use.ts";

const MAX_ORGANIZATIONS = 1_000;
const MAX_CONSUMERS = 100;
/** How often a request that waits looks whether others have cost less than expected. */
const LOOK_AGAIN_MS = 50;
/** Of a request of an operation that the organization has not requested in the last minute. */
const EXPECTED_UNITS = 1_000;

type Payer = Pick<LimitedRequest, "organizationId" | "consumerId" | "policy">;

interface Expectation {
  units: number;
  until: number;
}

interface Organization {
  bucket: LeakyBucket;
  consumers: BoundedMap<string, LeakyBucket>;
  /** The most that a request has cost in about a minute, by operation. */
  expectations: Map<unknown, Expectation>;
  /** What exempt requests of callers have cost beyond what they have written. */
  excess: LeakyBucket | undefined;
}

/**
 * Spreads the database work of an organization evenly over the time of its budget, as far as this isolate
 * knows it: a budget may not be spent at once, because all others would wait for that. A request waits in
 * the line of its consumer, which may use four fifths, and then in that of the organization.
 */
export class DatabasePace {
  readonly #organizations = {
    caller: new BoundedMap<string, Organization>(MAX_ORGANIZATIONS),
    runner: new BoundedMap<string, Organization>(MAX_ORGANIZATIONS),
  } satisfies Record<BudgetName, unknown>;
  readonly #now: () => number;

  /** @param now In milliseconds. Tests stop other clocks. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param operation Whose requests are expected to cost what the largest of them has cost. */
  turnOf({ organizationId, consumerId, policy }: Payer, operation: unknown): Turn {
    const name = budgetOf(policy);
    const { bucket, consumers, expectations, excess } = this.#organizationOf(name, organizationId);
    let consumer = consumers.get(consumerId);
    if (!consumer) {
      consumer = newBucket(name, SHARED_FIFTHS / FIFTHS);
      consumers.set(consumerId, consumer);
    }
    return new Turn([consumer, bucket], { expectations, excess, operation, now: this.#now });
  }

  #organizationOf(name: BudgetName, id: string): Organization {
    const known = this.#organizations[name].get(id);
    if (known) return known;
    const consumers = new BoundedMap<string, LeakyBucket>(MAX_CONSUMERS);
    const excess = name === "caller" ? newBucket(name, 1 - SHARED_FIFTHS / FIFTHS) : undefined;
    const made = { bucket: newBucket(name, 1), consumers, expectations: new Map(), excess };
    this.#organizations[name].set(id, made);
    return made;
  }
}

function newBucket(name: BudgetName, share: number): LeakyBucket {
  return new LeakyBucket((BUDGETS[name] / WINDOW_MS) * share, LIMITS.burstUnits.value);
}

interface TurnOptions {
  expectations: Map<unknown, Expectation>;
  excess: LeakyBucket | undefined;
  operation: unknown;
  now: () => number;
}

/** The database work of one request. */
export class Turn {
  readonly #buckets: readonly LeakyBucket[];
  readonly #expectations: Map<unknown, Expectation>;
  readonly #excess: LeakyBucket | undefined;
  readonly #operation: unknown;
  readonly #now: () => number;
  /** What each bucket has of this request that is not charged yet. */
  readonly #reserved: number[] = [];
  #isExempt = true;
  #charged = 0;
  #written = 0;

  constructor(buckets: readonly LeakyBucket[], options: TurnOptions) {
    const { expectations, excess, operation, now } = options;
    this.#buckets = buckets;
    this.#expectations = expectations;
    this.#excess = excess;
    this.#operation = operation;
    this.#now = now;
  }

  /**
   * Whether a request that no budget refuses may start at once: not if those of the organization have cost much and
   * changed little, such as deletions that fail, because they can be repeated without end.
   */
  mayExceedBudget(): boolean {
    return !this.#excess || this.#excess.waitMs(0, this.#now()) === 0;
  }

  /**
   * Resolves once the request may start. Undefined: at once.
   * @param refusal Of a request that would wait for too long, which is thrown.
   */
  take(refusal: (waitMs: number) => Error, at = 0): Promise<void> | undefined {
    this.#isExempt = false;
    const now = this.#now();
    const { units } = this.#expected(now);
    for (let each = at; ; each += 1) {
      const bucket = this.#buckets[each];
      if (!bucket) return undefined;
      const waitMs = bucket.waitMs(units, now);
      if (waitMs > LIMITS.paceWaitMs.value) throw refusal(waitMs);
      const position = bucket.add(units, now);
      this.#reserved[each] = units;
      if (waitMs === 0) continue;
      const leftMs = () => bucket.waitMs(units, this.#now(), position);
      return waitWhile(leftMs).then(() => this.take(refusal, each + 1));
    }
  }

  /** What a statement has cost, and the rows that it has written. */
  charge(units: number, rowsWritten: number): void {
    this.#charged += units;
    this.#written += rowsWritten;
    this.#buckets.forEach((bucket, at) => {
      const reserved = this.#reserved[at] ?? 0;
      this.#reserved[at] = Math.max(0, reserved - units);
      if (units > reserved) bucket.addPast(units - reserved, this.#now());
    });
  }

  /** What the request has not cost does not delay others. */
  end(): void {
    const now = this.#now();
    if (this.#isExempt) {
      const excess = this.#charged - this.#written * LIMITS.exemptUnitsOfRow.value;
      this.#excess?.addPast(Math.max(0, excess), now);
    }
    this.#buckets.forEach((bucket, at) => {
      bucket.remove(this.#reserved[at] ?? 0, now);
    });
    this.#reserved.length = 0;
    if (this.#charged < this.#expected(now).units) return;
    const expectation = { units: this.#charged, until: now + WINDOW_MS };
    this.#expectations.set(this.#operation, expectation);
  }

  #expected(now: number): Pick<Expectation, "units"> {
    const known = this.#expectations.get(this.#operation);
    return known && now < known.until ? known : { units: EXPECTED_UNITS };
  }
}

/** A timer of its own for each request: the one ahead may have ended with its client. */
async function waitWhile(leftMs: () => number): Promise<void> {
  for (let waitMs = leftMs(); waitMs > 0; waitMs = leftMs()) {
    await scheduler.wait(Math.ceil(Math.min(waitMs, LOOK_AGAIN_MS)));
  }
}

import { BoundedMap } from "../lib/bounded-map.ts";
import { SharedUse, type StoredUse } from "./shared-use.ts";

const STEP_MS = 1_000;
const MAX_REMEMBERED_REPORTS = 1_000;

/**
 * An organization's budget of database work in any 60 s, in units of `UNITS`. It is charged after the work, so
 * it can be exceeded by what is in progress. The last fifth is for consumers that have used less than a
 * fifth, so that none exhausts it for the others.
 */
export class CostBudget {
  readonly #use: SharedUse;
  /** By the ID of the report, because a report may be sent again. */
  readonly #reports = new BoundedMap<string, true>(MAX_REMEMBERED_REPORTS);

  constructor(limit: number, stored?: StoredUse) {
    this.#use = new SharedUse(limit, STEP_MS, stored);
  }

  get stored(): StoredUse {
    return this.#use.stored;
  }

  charge(reportId: string, consumerId: string, units: number, now: number): void {
    if (units === 0 || this.#reports.get(reportId)) return;
    this.#reports.set(reportId, true);
    this.#use.add(consumerId, now, units);
  }

  /** Until the consumer may cause further work; 0 while it may. */
  waitMs(consumerId: string, now: number): number {
    this.#use.dropExpired(now);
    return this.#use.waitMs(consumerId, now);
  }
}

import { type SQL, sql } from "drizzle-orm";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { BASE58 } from "../lib/radix.ts";

const DIGITS = 4;

/**
 * Identifiers for as many rows as one statement writes, which nobody can know before. They are one
 * new UUIDv7 whose last four digits of base58 the statement counts: some 11 million in order, and
 * as unlikely as any to be met twice.
 */
export class IdSequence {
  readonly #prefix: string;

  constructor(clock: Clock) {
    this.#prefix = newId(clock).slice(0, -DIGITS);
  }

  /** The identifier of the row with this number, counted from 0. */
  of(number: SQL): SQL {
    const digits = Array.from({ length: DIGITS }, (_, at) => {
      const weight = sql.raw(String(BASE58.length ** (DIGITS - 1 - at)));
      return sql`substr(${sql.raw(`'${BASE58}'`)}, (${number}) / ${weight} % 58 + 1, 1)`;
    });
    return sql.join([sql`${this.#prefix}`, ...digits], sql` || `);
  }
}

import { type SQL, sql } from "drizzle-orm";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { BASE58 } from "../lib/radix.ts";

const DIGITS = 4;

/**
 * IDs for the rows of an `INSERT … SELECT`, whose count is unknown before it runs. SQL replaces the
 * last four base58 digits of a new UUIDv7 with the row number: 58⁴ (11 million) IDs, in order.
 */
export class IdSequence {
  readonly #prefix: string;

  constructor(clock: Clock) {
    this.#prefix = newId(clock).slice(0, -DIGITS);
  }

  /** Numbers start at 0. */
  at(number: SQL): SQL {
    const alphabet = sql.raw(`'${BASE58}'`);
    const radix = sql.raw(String(BASE58.length));
    const digits = Array.from({ length: DIGITS }, (_, index) => {
      const weight = sql.raw(String(BASE58.length ** (DIGITS - 1 - index)));
      return sql`substr(${alphabet}, (${number}) / ${weight} % ${radix} + 1, 1)`;
    });
    return sql.join([sql`${this.#prefix}`, ...digits], sql` || `);
  }
}

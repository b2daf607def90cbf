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

  /** Whether an ID is one of this sequence. */
  includes(id: SQL): SQL {
    const first = BASE58.charAt(0).repeat(DIGITS);
    const last = BASE58.charAt(BASE58.length - 1).repeat(DIGITS);
    return sql`${id} between ${this.#prefix + first} and ${this.#prefix + last}`;
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

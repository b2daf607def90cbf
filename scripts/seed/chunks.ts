import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";

/** Rows for one statement: as JSON they stay far below the 2 MB that D1 takes for a parameter. */
const CHUNK = 5_000;
const PERIOD_MS = 2 * 365 * 24 * 60 * 60 * 1000;

/** One row of many, numbered from 1, with its place in the two years before now. */
export interface Numbered {
  id: string;
  number: number;
  createdAt: number;
}

/** So many rows in chunks, as JSON, in the order of their times. */
export function* chunksOf<Row>(
  count: number,
  describe: (row: Numbered) => Row,
  { now }: Clock = systemClock,
): Generator<string> {
  const start = now() - PERIOD_MS;
  const describeAt = (number: number) => {
    const createdAt = start + Math.floor((number / count) * PERIOD_MS);
    return describe({ id: newId({ now: () => createdAt }), number, createdAt });
  };
  for (let done = 0; done < count; done += CHUNK) {
    const length = Math.min(CHUNK, count - done);
    yield JSON.stringify(Array.from({ length }, (_, at) => describeAt(done + at + 1)));
  }
}

import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";

/** Rows of one statement. As JSON, they are well below D1's limit of 2 MB for a parameter. */
const CHUNK = 5_000;
const PERIOD_MS = 2 * 365 * 24 * 60 * 60 * 1000;

/** A row, numbered from 1. The creation times are spread over the last two years. */
export interface Numbered {
  id: string;
  number: number;
  createdAt: number;
}

/** Rows in chunks, as JSON, oldest first. */
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

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LeakyBucket } from "../../src/rate-limits/leaky-bucket.ts";

const RUNS = 300;
const UNITS_PER_MS = 10;
const BURST = 500;

interface Piece {
  units: number;
  /** Since the piece before, in milliseconds. */
  gapMs: number;
}

const pieces = fc.array(
  fc.record({ units: fc.integer({ min: 1, max: 800 }), gapMs: fc.integer({ min: 0, max: 60 }) }),
  { minLength: 1, maxLength: 40 },
);

interface Started extends Piece {
  addedAt: number;
  startedAt: number;
}

/** Each piece starts as soon as the bucket lets it. Looks at the bucket every millisecond. */
function run(work: readonly Piece[]): Started[] {
  const bucket = new LeakyBucket(UNITS_PER_MS, BURST);
  const waiting: { piece: Piece; position: number; addedAt: number }[] = [];
  const started: Started[] = [];
  let next = 0;
  let addAt = work[0]?.gapMs ?? 0;
  for (let now = 0; started.length < work.length; now += 1) {
    for (let piece = work[next]; piece && addAt <= now; piece = work[next]) {
      waiting.push({ piece, position: bucket.add(piece.units, now), addedAt: now });
      next += 1;
      addAt += work[next]?.gapMs ?? 0;
    }
    for (let first = waiting[0]; first; first = waiting[0]) {
      if (bucket.waitMs(first.piece.units, now, first.position) > 0) break;
      started.push({ ...first.piece, addedAt: first.addedAt, startedAt: now });
      waiting.shift();
    }
  }
  return started;
}

describe("work in a leaky bucket", () => {
  it("never exceeds the burst and what has drained by more than its last piece", () => {
    fc.assert(
      fc.property(pieces, (work) => {
        const started = run(work);
        for (const [from, first] of started.entries()) {
          let units = 0;
          for (const piece of started.slice(from)) {
            // Up to a millisecond passes before a piece that may start is seen.
            const elapsedMs = piece.startedAt - first.startedAt + 1;
            const allowed = BURST + elapsedMs * UNITS_PER_MS;
            expect(units).toBeLessThanOrEqual(allowed);
            units += piece.units;
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("starts in the order in which it was added, and at once if all before it fits in the burst", () => {
    fc.assert(
      fc.property(pieces, (work) => {
        const started = run(work);
        expect(started.map(({ units }) => units)).toEqual(work.map(({ units }) => units));
        let units = 0;
        for (const piece of started) {
          units += piece.units;
          if (units > BURST) break;
          expect(piece.startedAt).toBe(piece.addedAt);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("starts at once when the bucket is empty, however large it is", () => {
    const bucket = new LeakyBucket(UNITS_PER_MS, BURST);
    expect(bucket.waitMs(100 * BURST, 0)).toBe(0);
    bucket.add(100 * BURST, 0);
    expect(bucket.waitMs(1, 0)).toBe((100 * BURST - (BURST - 1)) / UNITS_PER_MS);
    expect(bucket.waitMs(100 * BURST, (100 * BURST) / UNITS_PER_MS - 1)).toBeGreaterThan(0);
    expect(bucket.waitMs(100 * BURST, (100 * BURST) / UNITS_PER_MS)).toBe(0);
  });

  it("waits for what others have cost beyond what was expected, and not for what they have not", () => {
    const bucket = new LeakyBucket(UNITS_PER_MS, BURST);
    bucket.add(BURST, 0);
    const position = bucket.add(100, 0);
    const before = bucket.waitMs(100, 0, position);
    bucket.addPast(200, 0);
    expect(bucket.waitMs(100, 0, position)).toBe(before + 200 / UNITS_PER_MS);
    bucket.remove(200 + BURST, 0);
    expect(bucket.waitMs(100, 0, position)).toBe(0);
  });
});

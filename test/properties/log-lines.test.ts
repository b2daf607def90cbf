import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planAppend } from "../../src/features/deployments/logs/append.ts";
import { type LogLine, splitLines } from "../../src/features/deployments/logs/lines.ts";
import type { LogChunk } from "../../src/features/deployments/logs/model.ts";
import { toLinePage } from "../../src/features/deployments/logs/page.ts";
import { concatenate, cut, decode, outputBytes } from "../support/log-bytes.ts";

const RUNS = { numRuns: 2_000 };
const STACKS = ["one", "two", "three"] as const;

interface StackRun {
  stackId: string;
  bytes: Uint8Array;
}

/** Consecutive bytes of one stack, and then of another. */
const stackRuns: fc.Arbitrary<StackRun[]> = fc
  .array(fc.record({ stackId: fc.constantFrom(...STACKS), bytes: outputBytes(8) }), {
    maxLength: 6,
  })
  .map((runs) => runs.filter(({ stackId }, index) => stackId !== runs[index - 1]?.stackId));

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 10 });
/** Small, so that lines are longer; large enough for every character. */
const maximumBytes = fc.integer({ min: 4, max: 24 });

function toChunks(runs: readonly StackRun[], positions: readonly number[]): LogChunk[] {
  let offset = 0;
  return runs.flatMap(({ stackId, bytes }) =>
    cut(bytes, positions)
      .filter(({ length }) => length > 0)
      .map((part) => {
        const chunk = { offset, stackId, time: offset, bytes: part };
        offset += part.length;
        return chunk;
      }),
  );
}

const withoutTime = ({ time: _, ...line }: LogLine) => line;

describe("the lines of chunks", () => {
  it("have exactly the bytes, once and in order, and each at most the maximum", () => {
    fc.assert(
      fc.property(
        stackRuns,
        cuts,
        maximumBytes,
        fc.boolean(),
        (runs, positions, maximum, whole) => {
          const chunks = toChunks(runs, positions);
          const all = concatenate(runs.map(({ bytes }) => bytes));
          const options = { maximumBytes: maximum, isComplete: whole };
          let end = 0;
          for (const { offset, nextOffset, text, time } of splitLines(chunks, options)) {
            expect(offset).toBe(end);
            expect(text).toBe(decode(all.subarray(offset, nextOffset)));
            expect(nextOffset - offset).toBeGreaterThan(0);
            expect(nextOffset - offset).toBeLessThanOrEqual(maximum);
            expect(text.slice(0, -1)).not.toContain("\n");
            const arrival = chunks.findLast(
              (chunk) => chunk.offset <= lineStart(all, runs, offset),
            );
            expect(time).toBe(arrival?.time);
            end = nextOffset;
          }
          expect(end).toBeLessThanOrEqual(all.length);
          expect(all.length - end).toBeLessThanOrEqual(whole ? 0 : 3);
        },
      ),
      RUNS,
    );
  });

  it("do not depend on where the chunks of a stack are cut", () => {
    fc.assert(
      fc.property(stackRuns, cuts, cuts, maximumBytes, (runs, some, others, maximum) => {
        const options = { maximumBytes: maximum, isComplete: true };
        const split = (positions: number[]) =>
          [...splitLines(toChunks(runs, positions), options)].map(withoutTime);
        expect(split(some)).toEqual(split(others));
      }),
      RUNS,
    );
  });

  it("cut no character: their texts are the text of the stack's bytes", () => {
    fc.assert(
      fc.property(stackRuns, cuts, maximumBytes, (runs, positions, maximum) => {
        const options = { maximumBytes: maximum, isComplete: true };
        const lines = [...splitLines(toChunks(runs, positions), options)];
        const texts = lines.map(({ text }) => text).join("");
        expect(texts).toBe(runs.map(({ bytes }) => decode(bytes)).join(""));
      }),
      RUNS,
    );
  });
});

/** The start of the line that a byte belongs to, which may have several records. */
function lineStart(all: Uint8Array, runs: readonly StackRun[], offset: number): number {
  let start = 0;
  for (const { bytes } of runs) {
    if (offset < start + bytes.length) break;
    start += bytes.length;
  }
  return Math.max(start, all.subarray(0, offset).lastIndexOf(10) + 1);
}

describe("the pages of a log", () => {
  it("have each byte of a stack once, at any size of a read", () => {
    const size = fc.integer({ min: 8, max: 60 });
    fc.assert(
      fc.property(stackRuns, cuts, size, fc.boolean(), (runs, positions, bytes, isSealed) => {
        const chunks = toChunks(runs, positions);
        for (const stackId of [undefined, ...STACKS]) {
          const own = runs.filter((run) => !stackId || run.stackId === stackId);
          const texts = readAll(chunks, { stackId, bytes, isSealed });
          const expected = own.map((run) => decode(run.bytes)).join("");
          // The beginning of a character at the end of an open log is not shown yet.
          if (isSealed) expect(texts).toBe(expected);
          else expect(expected.startsWith(texts) && expected.length - texts.length <= 3).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

function readAll(
  chunks: readonly LogChunk[],
  options: { stackId: string | undefined; bytes: number; isSealed: boolean },
): string {
  const last = chunks.at(-1);
  const size = last ? last.offset + last.bytes.length : 0;
  const log = { size, isSealed: options.isSealed, isTruncated: false };
  const texts: string[] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = toLinePage({ log, ...read(chunks, after, options, size) });
    expect(page.nextOffset > after || !page.hasMore).toBe(true);
    for (const { text } of page.lines) texts.push(text);
    ({ nextOffset: after, hasMore } = page);
  }
  return texts.join("");
}

/** As the store of chunks reads. */
function read(
  chunks: readonly LogChunk[],
  after: number,
  { stackId, bytes: maximum }: { stackId: string | undefined; bytes: number },
  size: number,
) {
  const found: LogChunk[] = [];
  let left = maximum;
  for (const chunk of chunks) {
    if (left === 0) break;
    if (stackId && chunk.stackId !== stackId) continue;
    const start = Math.max(0, after - chunk.offset);
    const bytes = chunk.bytes.subarray(start, start + left);
    if (bytes.length > 0) found.push({ ...chunk, offset: chunk.offset + start, bytes });
    left -= bytes.length;
  }
  const last = found.at(-1);
  return {
    chunks: found,
    nextOffset: left === 0 && last ? last.offset + last.bytes.length : size,
  };
}

describe("the plan of an append", () => {
  const number = fc.integer({ min: 0, max: 60 });

  it("gives the bytes up to the limit, for any sends that repeat, overlap or leave gaps", () => {
    const sends = fc.array(fc.record({ offset: number, length: number }), { maxLength: 20 });
    fc.assert(
      fc.property(sends, fc.integer({ min: 1, max: 50 }), (offered, limit) => {
        const kept: number[] = [];
        let isFull = false;
        let sent = 0;
        for (const send of offered) {
          const plan = planAppend({ size: kept.length, limit, isFull, isSealed: false }, send);
          const isGap = !isFull && send.offset > kept.length;
          expect(plan.kind).toBe(isGap ? "gap" : "accepted");
          if (plan.kind !== "accepted") continue;
          sent = Math.max(sent, send.offset + send.length);
          expect(plan.nextOffset).toBeGreaterThanOrEqual(kept.length);
          const first = send.offset + plan.skipped;
          for (let at = 0; at < plan.kept; at += 1) kept.push(first + at);
          isFull = kept.length === limit;
        }
        expect(kept).toEqual(Array.from({ length: Math.min(sent, limit) }, (_, at) => at));
      }),
      RUNS,
    );
  });

  it("takes nothing new when the log is sealed, but repeats", () => {
    fc.assert(
      fc.property(number, number, number, fc.boolean(), (size, offset, length, isFull) => {
        const log = { size, limit: 60, isFull, isSealed: true };
        const isRepeat = offset + length <= size;
        const expected = isRepeat
          ? { kind: "accepted", nextOffset: size, skipped: length, kept: 0 }
          : { kind: "sealed" };
        expect(planAppend(log, { offset, length })).toEqual(expected);
      }),
      RUNS,
    );
  });
});

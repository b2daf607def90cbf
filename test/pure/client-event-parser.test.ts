import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser, type ServerSentEvent } from "../../packages/client/src/event-parser.ts";

const encoder = new TextEncoder();

function parse(...chunks: (string | Uint8Array)[]): ServerSentEvent[] {
  const parser = new EventParser();
  return chunks.flatMap((chunk) =>
    parser.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk),
  );
}

/** Cuts the bytes at each of the positions. */
function split(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const cuts = [0, ...positions.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)];
  return cuts.map((from, index) => bytes.subarray(from, cuts[index + 1] ?? bytes.length));
}

const text = fc.string({
  unit: fc.constantFrom("a", ":", " ", "é", "日", "🚢", "\0", "\t", "\ufeff", "data", "id"),
  maxLength: 12,
});
const lineBreak = fc.constantFrom("\n", "\r", "\r\n");
const field = fc.oneof(
  fc.tuple(fc.constantFrom("data", "id", "event", "retry", "", "other"), text),
  fc.constant(undefined),
);

describe("the parser of server-sent events", () => {
  it("returns the same events however the bytes are split", () => {
    const lines = fc.array(fc.tuple(field, fc.constantFrom(":", ": "), lineBreak));
    fc.assert(
      fc.property(lines, fc.array(fc.nat()), fc.boolean(), (given, cuts, hasMark) => {
        const stream = given.map(([pair, colon, end]) => `${pair?.join(colon) ?? ""}${end}`);
        const bytes = encoder.encode(`${hasMark ? "\ufeff" : ""}${stream.join("")}`);
        const whole = parse(bytes);
        expect(parse(...split(bytes, cuts))).toEqual(whole);
        expect(parse(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it("returns what was written, with any line break", () => {
    const event = fc.record({
      event: fc.stringMatching(/^[a-z]{1,5}$/),
      id: fc.stringMatching(/^[0-9]{1,4}$/),
      data: fc.array(text, { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(event), lineBreak, fc.array(fc.nat()), (events, end, cuts) => {
        const lines = events.flatMap(({ event: name, id, data }) => [
          `event: ${name}`,
          `id: ${id}`,
          ...data.map((part) => `data: ${part}`),
          ": comment",
          "",
        ]);
        const bytes = encoder.encode(lines.map((line) => `${line}${end}`).join(""));
        expect(parse(...split(bytes, cuts))).toEqual(
          events.map(({ data, ...rest }) => ({ ...rest, data: data.join("\n") })),
        );
      }),
    );
  });

  it("follows the examples of the standard", () => {
    expect(parse("data: YHOO\ndata: +2\ndata: 10\n\n")).toEqual([
      { event: "message", data: "YHOO\n+2\n10", id: "" },
    ]);
    const comments = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n";
    expect(parse(`${comments}data:  third event\n\n`)).toEqual([
      { event: "message", data: "first event", id: "1" },
      { event: "message", data: "second event", id: "" },
      { event: "message", data: " third event", id: "" },
    ]);
    expect(parse("data\n\ndata\ndata\n\ndata:")).toEqual([
      { event: "message", data: "", id: "" },
      { event: "message", data: "\n", id: "" },
    ]);
  });

  it("keeps an ID, also without data, and ignores one with NUL; an event name is for one event", () => {
    expect(parse("id: 7\n\nevent: status\ndata: a\n\nid: 8\0\ndata: b\n\n")).toEqual([
      { event: "status", data: "a", id: "7" },
      { event: "message", data: "b", id: "7" },
    ]);
  });

  it("reads the time to wait, unless it is no number", () => {
    const parser = new EventParser();
    expect(parser.retryMs).toBeUndefined();
    parser.push(encoder.encode("retry: 1500\nretry: 1e3\nretry: -1\nretry:\n"));
    expect(parser.retryMs).toBe(1_500);
  });

  it("ends a line at a carriage return without the next byte, and never returns half an event", () => {
    expect(parse("data: a\r\r")).toEqual([{ event: "message", data: "a", id: "" }]);
    expect(parse("data: a\r", "\n\r", "\ndata: b\r\n")).toEqual([
      { event: "message", data: "a", id: "" },
    ]);
    expect(parse("id: 9\ndata: a\n")).toEqual([]);
  });
});

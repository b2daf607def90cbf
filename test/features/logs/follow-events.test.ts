import { describe, expect, it } from "vitest";
import {
  type FollowedLog,
  followLog,
  type LogEvent,
} from "../../../src/features/deployments/logs/follow.ts";
import type { LogNotification } from "../../../src/features/deployments/logs/messages.ts";
import type { Run } from "../../../src/features/deployments/logs/run.ts";

const MINUTE_MS = 60_000;
const RUNNING: Run = {
  status: "in_progress",
  stacks: [{ id: "one", status: "pending" }],
  hasStarted: true,
  isLogPending: true,
};
const encoder = new TextEncoder();

/** A log and its reader, with a clock that only moves while the reader waits. */
class FakeLog implements FollowedLog {
  after = 0;
  time = 0;
  readonly reads: number[] = [];
  readonly checks: number[] = [];
  text = "";
  notified: LogNotification = { log: undefined, run: RUNNING };
  isClosed = false;
  isAllowed = () => true;
  /** What happens in a wait, and after how long. Nothing: the wait takes its time. */
  during: (maximumMs: number) => number = (maximumMs) => maximumMs;

  readonly connection = this.#connect();

  now = () => this.time;

  write(text: string, { isSealed = false, run }: { isSealed?: boolean; run?: Run } = {}): void {
    this.text += text;
    const { length: size } = encoder.encode(this.text);
    this.notified = {
      log: { size, isSealed, isTruncated: false },
      run: run ?? this.notified.run,
    };
  }

  read = async (after: number) => {
    this.reads.push(after);
    const bytes = encoder.encode(this.text).subarray(after);
    const chunks = [{ offset: after, stackId: "one", time: 0, bytes }];
    return { log: this.notified.log, chunks, nextOffset: after + bytes.length };
  };

  isAuthorized = async () => {
    this.checks.push(this.time);
    return this.isAllowed();
  };

  #connect(): FollowedLog["connection"] {
    const log = this;
    return {
      get latest() {
        return log.notified;
      },
      get isClosed() {
        return log.isClosed;
      },
      waitForChange: async (maximumMs) => {
        log.time += Math.min(maximumMs, log.during(maximumMs));
      },
    };
  }
}

async function eventsOf(log: FakeLog, maximum = 1_000): Promise<LogEvent["kind"][]> {
  const kinds: LogEvent["kind"][] = [];
  for await (const { kind } of followLog(log)) {
    kinds.push(kind);
    if (kinds.length >= maximum) break;
  }
  return kinds;
}

describe("a stream of events without changes", () => {
  it("has a comment every 15 seconds, for 15 minutes, and no end", async () => {
    const log = new FakeLog();
    const kinds = await eventsOf(log);
    expect(kinds).toEqual(["start", "status", ...Array(60).fill("idle")]);
    expect(log.time).toBe(15 * MINUTE_MS);
    expect(log.reads).toEqual([]);
  });

  it("checks the reader every 30 seconds", async () => {
    const log = new FakeLog();
    await eventsOf(log);
    expect(log.checks).toEqual(Array.from({ length: 29 }, (_, at) => (at + 1) * 30_000));
  });
});

describe("a stream of events", () => {
  it("checks the reader no later than 30 seconds after the last check, whatever changes", async () => {
    const log = new FakeLog();
    log.during = () => {
      log.write("x\n");
      return 7_000;
    };
    await eventsOf(log);
    const times = [0, ...log.checks];
    const gaps = log.checks.map((time, at) => time - (times[at] ?? 0));
    expect(Math.max(...gaps)).toBe(30_000);
    expect(log.checks.length).toBeGreaterThan(25);
  });

  it("sends nothing after a stall until the reader is checked", async () => {
    for (const stalledAfter of ["start", "status", "lines"] as const) {
      const log = new FakeLog();
      log.write("x\n");
      const events = followLog(log);
      for (let kind = ""; kind !== stalledAfter; ) kind = String((await events.next()).value?.kind);
      log.time = 10 * MINUTE_MS;
      log.write("y\n");
      log.isAllowed = () => false;
      expect(await events.next()).toEqual({ done: true, value: undefined });
    }
  });

  it("has what the log has when the connection is lost, and no end", async () => {
    const log = new FakeLog();
    log.write("x\n");
    log.isClosed = true;
    expect(await eventsOf(log)).toEqual(["start", "status", "lines"]);
  });

  it("ends when the deployment has ended and its log is sealed, not before", async () => {
    const log = new FakeLog();
    const run: Run = { ...RUNNING, status: "succeeded" };
    const steps = [
      () => log.write("x\n", { run }),
      () => log.write("y\n"),
      () => log.write("", { isSealed: true }),
    ];
    log.during = () => {
      steps.shift()?.();
      return 1_000;
    };
    const kinds = await eventsOf(log);
    expect(kinds).toEqual(["start", "status", "status", "lines", "lines", "end"]);
  });

  it("reads the beginning of a character again only when the log has changed", async () => {
    const log = new FakeLog();
    log.write("x");
    const whole = log.read;
    // As if the last byte were the first of two.
    log.read = async (after) => {
      const content = await whole(after);
      return {
        ...content,
        chunks: content.chunks.map((chunk) => ({ ...chunk, bytes: Uint8Array.of(0xc3) })),
      };
    };
    expect(await eventsOf(log)).not.toContain("lines");
    expect(log.reads).toEqual([0]);
  });
});

import { describe, expect, it } from "vitest";
import { type FollowedLog, followLog, type LogEvent } from "../../../src/features/logs/follow.ts";
import type { LogNotification } from "../../../src/features/logs/messages.ts";
import type { LogChunk } from "../../../src/features/logs/model.ts";
import { LIMITS } from "../../../src/lib/limits.ts";

const RUNNING: LogNotification = {
  log: { size: 0, isSealed: false, isTruncated: false },
  run: { status: "in_progress", stacks: [], hasStarted: true, isLogPending: true },
};

/** A connection on which nothing happens, and a clock that moves while the reader waits. */
class Scene implements FollowedLog {
  after = 0;
  time = 0;
  reads = 0;
  chunks: LogChunk[] = [];
  checks: number[] = [];
  isValid = (_time: number): boolean => true;
  readonly connection = {
    latest: RUNNING,
    isClosed: false,
    waitForChange: async (maximumMs: number) => {
      this.time += maximumMs;
    },
  };

  read: FollowedLog["read"] = async () => {
    this.reads += 1;
    return { log: this.connection.latest.log, chunks: this.chunks, nextOffset: 2 };
  };

  isAuthorized = async () => {
    this.checks.push(this.time);
    return this.isValid(this.time);
  };

  now = () => this.time;
}

async function collect(scene: Scene): Promise<LogEvent["kind"][]> {
  const kinds: LogEvent["kind"][] = [];
  for await (const { kind } of followLog(scene)) kinds.push(kind);
  return kinds;
}

describe("following a log on which nothing happens", () => {
  it("ends after 15 minutes without `end`, with a sign of life every 15 s", async () => {
    const scene = new Scene();
    const kinds = await collect(scene);
    expect(scene.time).toBe(LIMITS.logStreamMs.value);
    expect(kinds.slice(0, 3)).toEqual(["start", "status", "idle"]);
    expect(kinds.filter((kind) => kind === "idle")).toHaveLength(60);
    expect(kinds).not.toContain("end");
  });

  it("checks the credential every 30 s, and sends nothing after it was refused", async () => {
    const scene = new Scene();
    scene.isValid = (time) => time < 90_000;
    const kinds = await collect(scene);
    expect(scene.checks).toEqual([30_000, 60_000, 90_000]);
    expect(kinds.filter((kind) => kind === "idle")).toHaveLength(6);
  });

  it("ends without `end` when the connection to the log is lost", async () => {
    const scene = new Scene();
    scene.connection.isClosed = true;
    expect(await collect(scene)).toEqual(["start", "status"]);
  });

  it("does not read again for bytes that are not a whole character yet", async () => {
    const scene = new Scene();
    scene.connection.latest = { ...RUNNING, log: { size: 2, isSealed: false, isTruncated: false } };
    scene.chunks = [{ offset: 0, stackId: "a", time: 0, bytes: new Uint8Array([0xe2, 0x82]) }];
    await collect(scene);
    expect(scene.reads).toBe(1);
  });
});

import { EventEmitter, on } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ApiClient } from "../../packages/runner/src/api.ts";
import { Lease } from "../../packages/runner/src/lease.ts";

const LEASE_MS = 60_000;
const INTERVALS = {
  start_within_seconds: 30,
  heartbeat_every_seconds: 0,
  lease_seconds: 60,
  log_every_seconds: 1,
  log_chunk_bytes: 1,
  log_bytes: 1,
};
const CLAIM = { ...INTERVALS, attempt_id: "a", lease_token: "t", deployment: { id: "d" } };

interface PendingRequest {
  verb: string;
  answer(intervals?: Partial<typeof INTERVALS>): void;
}

let lease: Lease;
let requests: AsyncIterator<[PendingRequest]>;

/** Time passes only in the test. The pause between two heartbeats is none. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const sent = new EventEmitter();
  requests = on(sent, "request") as AsyncIterator<[PendingRequest]>;
  const send = (_: string, path: string) =>
    new Promise((resolve) => {
      const answer: PendingRequest["answer"] = (intervals) => {
        const body = { ...INTERVALS, ...intervals };
        resolve({ status: 200, directive: "continue", retryAfterMs: undefined, body });
      };
      sent.emit("request", { verb: path.split("/").at(-1), answer });
    });
  lease = new Lease({ send } as unknown as ApiClient, CLAIM);
});

afterEach(() => {
  lease.end();
  vi.useRealTimers();
});

/** The next request that has been or will be sent. */
async function next(verb: string): Promise<PendingRequest> {
  const { value } = await requests.next();
  expect(value[0].verb).toBe(verb);
  return value[0];
}

function expectToHaltAfter(ms: number): void {
  vi.advanceTimersByTime(ms - 1);
  expect([lease.haltReason, lease.halted.aborted]).toEqual([undefined, false]);
  vi.advanceTimersByTime(1);
  expect([lease.haltReason, lease.halted.aborted]).toEqual(["lease_expired", true]);
}

it("counts the lease from the request to start, however late the response is", async () => {
  const started = lease.start();
  const { answer } = await next("start");
  vi.advanceTimersByTime(20_000);
  answer();
  await started;
  expectToHaltAfter(LEASE_MS - 20_000);
});

it("counts the lease from the newest heartbeat with a response, however late that is", async () => {
  const started = lease.start();
  (await next("start")).answer();
  await started;
  const first = await next("heartbeat");
  vi.advanceTimersByTime(10_000);
  first.answer();
  const second = await next("heartbeat");
  vi.advanceTimersByTime(30_000);
  second.answer();
  // The server is silent from here on.
  const third = await next("heartbeat");
  expectToHaltAfter(LEASE_MS - 30_000);
  third.answer();
  await next("heartbeat");
  expect(lease.haltReason).toBe("lease_expired");
});

it("ends a lease at once that has become shorter than the response took", async () => {
  const started = lease.start();
  (await next("start")).answer();
  await started;
  const { answer } = await next("heartbeat");
  vi.advanceTimersByTime(10_000);
  answer({ lease_seconds: 10 });
  await next("heartbeat");
  vi.advanceTimersByTime(1);
  expect(lease.haltReason).toBe("lease_expired");
});

it("sends the next heartbeat after the time of the newest response", async () => {
  const started = lease.start();
  (await next("start")).answer();
  await started;
  (await next("heartbeat")).answer({ heartbeat_every_seconds: 60 });
  const following = next("heartbeat").then(() => "sent");
  // Time that passes outside of the test, too.
  expect(await Promise.race([following, sleep(100, "none")])).toBe("none");
});

it("sends no heartbeat once the attempt is lost", async () => {
  const started = lease.start();
  (await next("start")).answer();
  await started;
  const { answer } = await next("heartbeat");
  lease.halt("lost");
  answer();
  const following = next("heartbeat").then(() => "sent");
  expect(await Promise.race([following, sleep(100, "none")])).toBe("none");
});

it("ends no lease after the end of its attempt", async () => {
  const started = lease.start();
  (await next("start")).answer();
  await started;
  lease.end();
  vi.advanceTimersByTime(2 * LEASE_MS);
  expect(lease.haltReason).toBe(undefined);
});

it.each([
  [["canceled", "lost"], "lost"],
  [["lost", "canceled"], "lost"],
  [["canceled", "interrupted"], "canceled"],
  [["interrupted", "canceled"], "interrupted"],
] as const)("keeps the first reason of %j, unless the lease is lost", (reasons, kept) => {
  for (const reason of reasons) lease.halt(reason);
  expect([lease.haltReason, lease.halted.aborted]).toEqual([kept, true]);
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PacedSender } from "../../src/features/deployments/logs/paced-sender.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Calls `send` every 10 ms, and returns when it sent, in milliseconds since the start. */
function sendEvery10Ms(times: number, followers: number): number[] {
  const start = Date.now();
  const sentAt: number[] = [];
  const sender = new PacedSender(() => sentAt.push(Date.now() - start));
  for (let at = 0; at < times; at += 1) {
    sender.send(followers);
    vi.advanceTimersByTime(10);
  }
  vi.runAllTimers();
  return sentAt;
}

describe("notifications of followers", () => {
  it.each([
    [1, 100],
    [5, 100],
    [10, 51],
    [100, 6],
    [1_000, 2],
  ])("%i get 100 lines in a second with %i notifications", (followers, notifications) => {
    expect(sendEvery10Ms(100, followers)).toHaveLength(notifications);
  });

  it("tell of the first line at once, and of the last one after it", () => {
    const sentAt = sendEvery10Ms(100, 1_000);
    expect(sentAt).toEqual([0, 2_000]);
  });

  it("are none, and set no timer, without followers", () => {
    expect(sendEvery10Ms(3, 0)).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

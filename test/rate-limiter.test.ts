import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";

const newLimiter = () => env.RATE_LIMITER.getByName(newId(systemClock));
const admittedOf = (takes: readonly { admitted: boolean }[]) =>
  takes.filter(({ admitted }) => admitted).length;

describe("the rate limiter of a key", () => {
  it("admits exactly 100 of 1,000 requests at once", async () => {
    const limiter = newLimiter();
    const takes = await Promise.all(
      Array.from({ length: 1_000 }, () => limiter.take("default", 0)),
    );
    expect(admittedOf(takes)).toBe(100);
  });

  it("holds the windows of the policies apart", async () => {
    const limiter = newLimiter();
    const reveals = await Promise.all(Array.from({ length: 50 }, () => limiter.take("reveal", 0)));
    expect(admittedOf(reveals)).toBe(30);
    expect(await limiter.take("default", 0)).toMatchObject({ admitted: true, remaining: 99 });
    expect(await limiter.take("polling", 0)).toMatchObject({ admitted: true, remaining: 299 });
    expect(await limiter.take("runner", 0)).toMatchObject({ admitted: true, remaining: 1_199 });
  });

  it("remembers a burst through the loss of its memory", async () => {
    const limiter = newLimiter();
    await Promise.all(Array.from({ length: 100 }, () => limiter.take("default", 0)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await evictDurableObject(limiter);
    const after = await Promise.all(Array.from({ length: 100 }, () => limiter.take("default", 0)));
    expect(admittedOf(after)).toBe(0);
  });

  it("remembers the newest version of the key, at once and through the loss of its memory", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await limiter.raiseVersion(2);
    expect(await limiter.take("default", 0)).toMatchObject({ version: 3 });
    await evictDurableObject(limiter);
    expect(await limiter.take("default", 0)).toMatchObject({ version: 3 });
  });

  it("has the version in storage once it has been told of it", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await evictDurableObject(limiter);
    expect(await limiter.take("default", 0)).toMatchObject({ version: 3 });
  });

  it("writes to storage far less often than it is asked", async () => {
    const takes = 1_000;
    const puts = await runInDurableObject(newLimiter(), async (object, state) => {
      const put = vi.spyOn(state.storage, "put");
      for (let take = 0; take < takes; take += 1) object.take("runner", 0);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return put.mock.calls.length;
    });
    expect(puts).toBeGreaterThan(0);
    expect(puts).toBeLessThan(takes / 100);
  });
});

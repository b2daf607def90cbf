import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { RateLimiter } from "../../src/rate-limits/rate-limiter.do.ts";

const ORGANIZATION = newId(systemClock);
const newLimiter = () => env.RATE_LIMITER.getByName(newId(systemClock));
const admittedOf = (consumptions: readonly { admitted: boolean }[]) =>
  consumptions.filter(({ admitted }) => admitted).length;

describe("the rate limiter of a key", () => {
  it("admits exactly 100 of 1,000 requests at once", async () => {
    // Prevents timeouts of calls to the organization's object on a slow machine.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const limiter = newLimiter();
    const consumptions = await Promise.all(
      Array.from({ length: 1_000 }, () => limiter.consume("default", 0, ORGANIZATION)),
    );
    expect(admittedOf(consumptions)).toBe(100);
  });

  it("has a separate window for each policy", async () => {
    const limiter = newLimiter();
    const reveals = await Promise.all(
      Array.from({ length: 50 }, () => limiter.consume("reveal", 0, ORGANIZATION)),
    );
    expect(admittedOf(reveals)).toBe(30);
    expect(await limiter.consume("default", 0, ORGANIZATION)).toMatchObject({
      admitted: true,
      remaining: 99,
    });
    expect(await limiter.consume("polling", 0, ORGANIZATION)).toMatchObject({
      admitted: true,
      remaining: 299,
    });
    expect(await limiter.consume("runner", 0, ORGANIZATION)).toMatchObject({
      admitted: true,
      remaining: 1_199,
    });
  });

  it("keeps the window of a burst when it loses its memory", async () => {
    const limiter = newLimiter();
    await Promise.all(
      Array.from({ length: 100 }, () => limiter.consume("default", 0, ORGANIZATION)),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    await evictDurableObject(limiter);
    const after = await Promise.all(
      Array.from({ length: 100 }, () => limiter.consume("default", 0, ORGANIZATION)),
    );
    expect(admittedOf(after)).toBe(0);
  });

  it("returns the newest version of the key, also after it lost its memory", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await limiter.raiseVersion(2);
    expect(await limiter.consume("default", 0, ORGANIZATION)).toMatchObject({ version: 3 });
    await evictDurableObject(limiter);
    expect(await limiter.consume("default", 0, ORGANIZATION)).toMatchObject({ version: 3 });
  });

  it("stores a version before it responds", async () => {
    const limiter = newLimiter();
    await limiter.raiseVersion(3);
    await evictDurableObject(limiter);
    expect(await limiter.consume("default", 0, ORGANIZATION)).toMatchObject({ version: 3 });
  });

  it("saves at most once for every 100 requests", async () => {
    const requests = 1_000;
    const puts = await runInDurableObject(newLimiter(), async (object, state) => {
      const put = vi.spyOn(state.storage, "put");
      for (let each = 0; each < requests; each += 1) object.consume("runner", 0, ORGANIZATION);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return put.mock.calls.length;
    });
    expect(puts).toBeGreaterThan(0);
    expect(puts).toBeLessThan(requests / 100);
  });

  it("loads state from before organization windows existed", async () => {
    const limiter = newLimiter();
    const logs = { default: Array.from({ length: 100 }, () => Date.now()) };
    await runInDurableObject(limiter, (_, state) =>
      state.storage.put("state", { version: 7, logs }),
    );
    await evictDurableObject(limiter);
    const refused = await limiter.consume("default", 0, ORGANIZATION);
    expect(refused).toMatchObject({ admitted: false, by: "key", version: 7 });
    expect(await limiter.consume("polling", 0, ORGANIZATION)).toMatchObject({ admitted: true });
  });

  it("reports whether its key was used, and stores nothing for that", async () => {
    const limiter = newLimiter();
    expect(await limiter.isKnown()).toBe(false);
    const stored = await runInDurableObject(limiter, (_, { storage }) => storage.list());
    expect(stored.size).toBe(0);
    await limiter.consume("default", 0, ORGANIZATION);
    expect(await limiter.isKnown()).toBe(true);
    await runInDurableObject(limiter, () => new Promise((resolve) => setTimeout(resolve, 300)));
    await evictDurableObject(limiter);
    expect(await limiter.isKnown()).toBe(true);
  });
});

describe("a key's share in its organization's window", () => {
  const fill = async (organizationId: string, requests: number) => {
    const request = { id: crypto.randomUUID(), waiting: requests, prefetch: 0, reports: [] };
    await env.ORGANIZATION_LIMITER.getByName(organizationId).lease("default", request);
  };

  it("is refused while that is full, and a refusal consumes nothing of the key's window", async () => {
    const organizationId = newId(systemClock);
    await fill(organizationId, 1_999);
    const limiter = newLimiter();
    const consume = () => limiter.consume("default", 0, organizationId);
    expect(await consume()).toMatchObject({ admitted: true, by: "key", remaining: 99 });
    const refused = await consume();
    expect(refused).toMatchObject({ admitted: false, by: "organization", remaining: 0 });
    expect(refused.waitMs).toBeGreaterThan(0);
    expect(refused.waitMs).toBeLessThanOrEqual(60_050);
    expect((await consume()).waitMs).toBeLessThanOrEqual(refused.waitMs);
    const polling = await limiter.consume("polling", 0, organizationId);
    expect(polling).toMatchObject({ admitted: true });
    const other = await newLimiter().consume("default", 0, newId(systemClock));
    expect(other).toMatchObject({ admitted: true });
  });

  it("survives the memory loss of the organization's object", async () => {
    const organizationId = newId(systemClock);
    await fill(organizationId, 2_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await evictDurableObject(env.ORGANIZATION_LIMITER.getByName(organizationId));
    const refused = await newLimiter().consume("default", 0, organizationId);
    expect(refused).toMatchObject({ admitted: false, by: "organization" });
  });

  const consumeWith = async (lease: () => Promise<unknown>, times: number) => {
    const name = newId(systemClock);
    return runInDurableObject(env.RATE_LIMITER.getByName(name), async (_, state) => {
      const broken = { getByName: () => ({ lease }) } as unknown as typeof env.ORGANIZATION_LIMITER;
      const limiter = new RateLimiter(state, { ...env, ORGANIZATION_LIMITER: broken });
      // Waits until the state is loaded. The runtime does so for objects that it creates.
      await limiter.raiseVersion(1);
      return Promise.all(
        Array.from({ length: times }, () => limiter.consume("default", 0, ORGANIZATION)),
      );
    });
  };

  it.each([
    ["fails", () => Promise.reject(new Error("The object failed"))],
    ["never responds", () => new Promise<never>(() => undefined)],
  ])("is a quarter of the key's limit while the organization's object %s", async (_, lease) => {
    expect(admittedOf(await consumeWith(lease, 60))).toBe(25);
  });

  it("is zero while the organization's object is overloaded", async () => {
    const overloaded = Object.assign(new Error("Overloaded"), { overloaded: true });
    const [refused] = await consumeWith(() => Promise.reject(overloaded), 1);
    expect(refused).toMatchObject({ admitted: false, by: "organization", waitMs: 1_000 });
  });
});

import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";
import { boundAddressLimiter } from "../support/address-limits.ts";
import { Client } from "../support/client.ts";
import { freezeTime, untilTimersAreSet } from "../support/frozen-time.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld, type World } from "../support/world.ts";

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

describe("the rate limit", () => {
  it("admits 100 requests, refuses the next, and states when to retry", async () => {
    freezeTime();
    const { client } = await newKey(world);
    for (let left = 99; left >= 0; left -= 1) {
      const { status, headers } = await client.get("/v1/orgs");
      expect(status).toBe(200);
      expect(headers.get("x-ratelimit-limit")).toBe("100");
      expect(headers.get("x-ratelimit-remaining")).toBe(String(left));
    }
    const refused = await client.get("/v1/orgs");
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe("rate");
    expect(refused.headers.get("x-ratelimit-reset")).toBe("60");
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("ratelimit-policy")).toBe('"default";q=100;w=60');
    expect(refused.headers.get("ratelimit")).toBe('"default";r=0;t=60');
  });

  it("refuses a key from the cache, without I/O, until requests are available", async () => {
    let now = Date.now();
    const isolate = new Instrumented({ clock: { now: () => now }, limiters: refusing(5_000) });
    const { client } = await newKey(world);
    const caller = client.via(isolate.fetch);
    expect((await caller.get("/v1/orgs")).status).toBe(429);
    isolate.forget();
    now += 4_001;
    for (const refused of [
      await caller.get("/v1/orgs"),
      await caller.request("HEAD", "/v1/orgs"),
      await caller.post("/v1/projects", { name: "x" }),
    ]) {
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toBe("1");
    }
    expect(isolate.exchanges).toEqual([]);
    now += 999;
    await caller.get("/v1/orgs");
    expect(isolate.objects).toHaveLength(1);
  });

  it("is in the headers of every response to a valid key, whatever its status", async () => {
    freezeTime();
    const { client } = await newKey(world);
    const replies = [
      await client.get("/v1/orgs"),
      await client.get("/v1/nothing-here"),
      await client.patch("/v1/orgs"),
      await client.post("/v1/projects", {}),
      await client.get("/v1/projects/1111111111111111111111"),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 501, 400, 404]);
    expect(replies.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual([
      "99",
      "98",
      "97",
      "96",
      "95",
    ]);
  });

  it("limits clients without a valid key by their address, with the error of the contract", async () => {
    const address = `192.0.2.${crypto.randomUUID()}`;
    const isolate = new Instrumented({ addressLimiter: boundAddressLimiter });
    const anonymous = new Client(undefined, isolate.fetch);
    let counted = 0;
    let status: number;
    // The binding counts per calendar minute, which may end before the request.
    do {
      while ((await boundAddressLimiter.limit({ key: address })).success) counted += 1;
      ({ status } = await anonymous.get("/v1/projects", { "cf-connecting-ip": address }));
      expect([401, 429]).toContain(status);
    } while (status !== 429);
    expect(counted).toBeGreaterThanOrEqual(300);
    expect((await anonymous.get("/v1/projects")).status).toBe(401);
  });
});

describe("when a key's rate limiter", () => {
  const call = async (limiters: LimiterNamespace, times = 1) => {
    const isolate = new Instrumented({ limiters });
    const { client } = await newKey(world);
    const replies = await Promise.all(
      Array.from({ length: times }, () => client.via(isolate.fetch).get("/v1/orgs")),
    );
    return { isolate, statuses: replies.map(({ status }) => status) };
  };
  const countOf = (statuses: number[], status: number) =>
    statuses.filter((each) => each === status).length;

  it("is overloaded, requests are refused", async () => {
    const { isolate, statuses } = await call(failing({ overloaded: true }));
    expect(statuses).toEqual([429]);
    expect(isolate.objects).toHaveLength(1);
  });

  it("fails once, it is called again through a new stub", async () => {
    let calls = 0;
    const { isolate, statuses } = await call({
      getByName: (name: string) => {
        calls += 1;
        return calls === 1 ? broken({ retryable: true }) : env.RATE_LIMITER.getByName(name);
      },
    } as LimiterNamespace);
    expect(statuses).toEqual([200]);
    expect(isolate.objects).toHaveLength(2);
    expect(calls).toBe(2);
  });

  it.each([
    ["fails", failing({ retryable: true })],
    ["does not exist", failing({})],
  ])("%s, a quarter of the limit is admitted and the rest is refused", async (_, limiters) => {
    freezeTime();
    const { isolate, statuses } = await call(limiters, 60);
    expect(countOf(statuses, 200)).toBe(25);
    expect(countOf(statuses, 429)).toBe(35);
    expect(isolate.logged.map(({ event }) => event)).toContain("rate_limiter.unavailable");
  });

  it("never responds, requests wait for two attempts of 500 ms each, and then a quarter is admitted", async () => {
    freezeTime();
    const answered = vi.fn();
    const called = call(hanging(), 60).finally(answered);
    for (const _ of ["first", "second"]) {
      await untilTimersAreSet(60);
      vi.advanceTimersByTime(499);
      await scheduler.wait(0);
      expect(answered).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
    }
    const { isolate, statuses } = await called;
    expect(isolate.objects).toHaveLength(120);
    expect(countOf(statuses, 200)).toBe(25);
    expect(countOf(statuses, 429)).toBe(35);
    expect(isolate.logged.map(({ event }) => event)).toContain("rate_limiter.unavailable");
  });

  it("fails, a revoked key is refused", async () => {
    const isolate = new Instrumented({ limiters: failing({}) });
    const { client, keyId } = await newKey(world);
    const caller = client.via(isolate.fetch);
    expect((await caller.get("/v1/orgs")).status).toBe(200);
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    expect((await caller.get("/v1/orgs")).status).toBe(401);
  });

  it("cannot receive a revocation, the failure is logged and the key is revoked", async () => {
    const isolate = new Instrumented({ limiters: failing({}) });
    const { keyId, client } = await newKey(world);
    const path = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    const owner = (await newKey(world)).client.via(isolate.fetch);
    expect((await owner.delete(path)).status).toBe(204);
    expect(isolate.logged.map(({ event }) => event)).toContain("rate_limiter.not_invalidated");
    expect((await client.get("/v1/orgs")).status).toBe(401);
  });
});

/** The kinds of failure of the Durable Objects documentation, "Error handling". */
function broken(marks: { retryable?: boolean; overloaded?: boolean }) {
  const fail = () => Promise.reject(Object.assign(new Error("The object failed"), marks));
  return { consume: fail, isKnown: fail, raiseVersion: fail };
}

function failing(marks: { retryable?: boolean; overloaded?: boolean }): LimiterNamespace {
  return { getByName: () => broken(marks) } as unknown as LimiterNamespace;
}

function hanging(): LimiterNamespace {
  const hang = () => new Promise<never>(() => undefined);
  return {
    getByName: () => ({ consume: hang, isKnown: hang, raiseVersion: hang }),
  } as unknown as LimiterNamespace;
}

function refusing(waitMs: number): LimiterNamespace {
  const consume = async () => ({ admitted: false, by: "key", remaining: 0, waitMs, version: 0 });
  return { getByName: () => ({ consume }) } as unknown as LimiterNamespace;
}

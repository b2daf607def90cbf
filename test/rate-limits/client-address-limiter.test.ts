import { describe, expect, it } from "vitest";
import { issueApiKey } from "../../src/features/identity/api-keys/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";
import { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld } from "../support/world.ts";

/** An address limiter that refuses every request, and records the networks. */
function refusing() {
  const networks: string[] = [];
  const limit = async ({ key }: { key: string }) => {
    networks.push(key);
    return { success: false };
  };
  return { networks, addressLimiter: { limit } };
}

/** An address limiter that admits `limit` requests in total. */
function admitting(limit: number) {
  let count = 0;
  const addressLimiter = {
    limit: async () => {
      count += 1;
      return { success: count <= limit };
    },
  };
  return { addressLimiter, counted: () => count };
}

const from = (address: string) => ({ "cf-connecting-ip": address });
const unknownKey = async () => (await issueApiKey(newId(systemClock))).key;

describe("an address over its limit", () => {
  it.each([
    ["GET", "/docs"],
    ["GET", "/openapi.json"],
    ["GET", "/health"],
    ["HEAD", "/health"],
    ["POST", "/v1/bootstrap"],
    ["GET", "/v1/projects"],
    ["GET", "/v1/nothing"],
    ["GET", "/"],
    ["POST", "/health"],
    ["GET", "/v2/projects"],
  ])("is refused %s %s, with the error of the contract", async (method, path) => {
    const { addressLimiter } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const reply = await new Client(undefined, isolate.fetch).request(method, path);
    expect(reply.status).toBe(429);
    if (method !== "HEAD") expect(reply.body.code).toBe("rate");
    expect(reply.headers.get("retry-after")).toBe("60");
    expect(isolate.exchanges).toEqual([]);
  });

  it("has no lookups of made-up keys, and is counted again after 10 s", async () => {
    let now = Date.now();
    const { addressLimiter, networks } = refusing();
    const isolate = new Instrumented({ addressLimiter, clock: { now: () => now } });
    const address = from("203.0.113.7");
    const get = async () =>
      (await new Client(await unknownKey(), isolate.fetch).get("/v1/orgs", address)).status;
    expect(await get()).toBe(429);
    now += 9_999;
    expect(await get()).toBe(429);
    expect(networks).toHaveLength(1);
    now += 1;
    expect(await get()).toBe(429);
    expect(networks).toHaveLength(2);
    expect(isolate.database).toEqual([]);
    const calls = isolate.objects.map(({ statements: [call] }) => call?.sql);
    expect(calls).toEqual(["isKnown", "isKnown", "isKnown"]);
  });

  it("may use a key that was used before, and no other", async () => {
    const { addressLimiter, networks } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const address = from("203.0.113.8");
    const world = await newWorld();
    const [used, unused] = [(await newKey(world)).client, (await newKey(world)).client];
    expect((await used.get("/v1/orgs")).status).toBe(200);
    expect((await unused.via(isolate.fetch).get("/v1/orgs", address)).status).toBe(429);
    expect(isolate.database).toEqual([]);
    for (const _ of ["uncached", "cached"]) {
      expect((await used.via(isolate.fetch).get("/v1/orgs", address)).status).toBe(200);
    }
    // The second refusal of the address was cached, and a cached key is not counted.
    expect(networks).toHaveLength(1);
  });

  it("is refused if the object of the key fails", async () => {
    const { addressLimiter } = refusing();
    const fail = () => Promise.reject(new Error("The object failed"));
    const limiters = { getByName: () => ({ isKnown: fail }) } as unknown as LimiterNamespace;
    const isolate = new Instrumented({ addressLimiter, limiters });
    const client = new Client(await unknownKey(), isolate.fetch);
    expect((await client.get("/v1/orgs", from("203.0.113.9"))).status).toBe(429);
    expect(isolate.logged.map(({ event }) => event)).toContain("rate_limiter.unavailable");
  });

  it("has no more made-up keys looked up than its limit, and may use a valid key", async () => {
    const limiter = admitting(30);
    const isolate = new Instrumented(limiter);
    const address = from("203.0.113.10");
    const used = (await newWorld()).client;
    expect((await used.get("/v1/orgs")).status).toBe(200);
    const statuses: number[] = [];
    for (let each = 0; each < 34; each += 1) {
      const client = new Client(await unknownKey(), isolate.fetch);
      statuses.push((await client.get("/v1/orgs", address)).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const lookups = isolate.database.filter(({ constraint }) => constraint !== "first-primary");
    expect(lookups).toHaveLength(30);
    expect((await used.via(isolate.fetch).get("/v1/orgs", address)).status).toBe(200);
  });

  it("is counted once per request, except for a cached valid key", async () => {
    const limiter = admitting(1_000);
    const isolate = new Instrumented(limiter);
    const known = (await newWorld()).client.via(isolate.fetch);
    const unknown = new Client(await unknownKey(), isolate.fetch);
    const counts: number[] = [];
    for (const client of [known, known, unknown, unknown, new Client(undefined, isolate.fetch)]) {
      await client.get("/v1/orgs", from("203.0.113.11"));
      counts.push(limiter.counted());
    }
    expect(counts).toEqual([1, 1, 2, 3, 4]);
  });

  it("shares the limit with its /64", async () => {
    const { addressLimiter, networks } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const anonymous = new Client(undefined, isolate.fetch);
    for (const address of ["2001:db8::1", "2001:DB8:0:0:ffff::2", "2001:db8:0:1::1"]) {
      expect((await anonymous.get("/v1/orgs", from(address))).status).toBe(429);
    }
    // The refusal of the first network is cached.
    expect(networks).toHaveLength(2);
    expect(new Set(networks).size).toBe(2);
  });
});

describe("an address limiter that fails", () => {
  it("admits the requests, and the failure is logged", async () => {
    const limit = () => Promise.reject(new Error("The limiter is gone"));
    const isolate = new Instrumented({ addressLimiter: { limit } });
    const anonymous = new Client(undefined, isolate.fetch);
    expect((await anonymous.get("/v1/orgs")).status).toBe(401);
    expect((await anonymous.get("/openapi.json")).status).toBe(200);
    expect((await anonymous.get("/nothing")).status).toBe(404);
    expect(isolate.logged.map(({ event }) => event)).toContain("address_limiter.unavailable");
  });
});

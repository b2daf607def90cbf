import { describe, expect, it } from "vitest";
import { issueApiKey } from "../src/features/api-keys/index.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import { Client } from "./support/client.ts";
import { Instrumented } from "./support/instruments.ts";
import { newKey, newWorld } from "./support/world.ts";

/** An address limiter that refuses every request, and notes what it was asked for. */
function refusing() {
  const asked: string[] = [];
  const limit = async ({ key }: { key: string }) => {
    asked.push(key);
    return { success: false };
  };
  return { asked, addressLimiter: { limit } };
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
  ])("is refused %s %s, in words of the contract", async (method, path) => {
    const { addressLimiter } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const reply = await new Client(undefined, isolate.fetch).request(method, path);
    expect(reply.status).toBe(429);
    if (method !== "HEAD") expect(reply.body.code).toBe("rate");
    expect(reply.headers.get("retry-after")).toBe("60");
    expect(isolate.exchanges).toEqual([]);
  });

  it("costs no look for a key that it makes up, until ten seconds have passed", async () => {
    let now = Date.now();
    const { addressLimiter, asked } = refusing();
    const isolate = new Instrumented({ addressLimiter, clock: { now: () => now } });
    const address = from("203.0.113.7");
    const get = async () =>
      (await new Client(await unknownKey(), isolate.fetch).get("/v1/orgs", address)).status;
    expect(await get()).toBe(429);
    expect(isolate.database).toHaveLength(2);
    now += 9_999;
    expect(await get()).toBe(429);
    expect(isolate.database).toHaveLength(2);
    expect(asked).toHaveLength(1);
    now += 1;
    expect(await get()).toBe(429);
    expect(isolate.database).toHaveLength(4);
  });

  it("does not keep out a good key that is known", async () => {
    const { addressLimiter } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const address = from("203.0.113.8");
    const world = await newWorld();
    const good = (await newKey(world)).client.via(isolate.fetch);
    expect((await good.get("/v1/orgs", address)).status).toBe(200);
    const stranger = new Client(undefined, isolate.fetch);
    expect((await stranger.get("/v1/orgs", address)).status).toBe(429);
    expect((await good.get("/v1/orgs", address)).status).toBe(200);
  });

  it("is over it with all of its /64, and no other is", async () => {
    const { addressLimiter, asked } = refusing();
    const isolate = new Instrumented({ addressLimiter });
    const stranger = new Client(undefined, isolate.fetch);
    for (const address of ["2001:db8::1", "2001:DB8:0:0:ffff::2", "2001:db8:0:1::1"]) {
      expect((await stranger.get("/v1/orgs", from(address))).status).toBe(429);
    }
    // The second of the first network is remembered, and not asked for again.
    expect(asked).toHaveLength(2);
    expect(new Set(asked).size).toBe(2);
  });
});

describe("an address limiter that fails", () => {
  it("keeps nobody out, and is logged", async () => {
    const limit = () => Promise.reject(new Error("The limiter is gone"));
    const isolate = new Instrumented({ addressLimiter: { limit } });
    const stranger = new Client(undefined, isolate.fetch);
    expect((await stranger.get("/v1/orgs")).status).toBe(401);
    expect((await stranger.get("/openapi.json")).status).toBe(200);
    expect((await stranger.get("/nothing")).status).toBe(404);
    expect(isolate.logged.map(({ event }) => event)).toContain("address_limiter.unavailable");
  });
});

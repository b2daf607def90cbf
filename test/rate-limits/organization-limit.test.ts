import { env, exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";
import wrangler from "../../wrangler.toml?raw";
import { freezeTime } from "../support/frozen-time.ts";
import { fillWindow, useWindow } from "../support/full-window.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld, signIn, type World } from "../support/world.ts";

const KEYS = 60;
const REQUESTS_PER_KEY = 15;
/** Requests of other keys, so that fewer reach the limit of 2,000. */
const EARLIER_REQUESTS = 1_500;
const CONNECTIONS = 6;

beforeEach(freezeTime);

const keysOf = (world: World, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await newKey(world)).client));

/** Does not check the response against the OpenAPI document, which takes longer than the request. */
const get = (key: string | undefined): Promise<Response> => {
  const headers = { "x-api-key": String(key), "cf-connecting-ip": "198.51.100.7" };
  return exports.default.fetch(new Request("https://longshore.test/v1/orgs", { headers }));
};

/** One request with each of `keys`, in this order. */
async function sendAll(keys: readonly (string | undefined)[], connections: number) {
  const rest = keys.values();
  const replies: Response[] = [];
  const connection = async () => {
    for (const key of rest) replies.push(await get(key));
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return replies;
}

const withStatus = (replies: readonly Response[], status: number) =>
  replies.filter((reply) => reply.status === status);

describe("an organization with 60 keys", () => {
  it("of one membership is admitted 16 to 18 times the limit of one key, and does not affect another organization", async () => {
    const [busy, quiet] = [await newWorld(), await newWorld()];
    const keys = await keysOf(busy, KEYS);
    await useWindow(busy.id, "default", busy.membershipId, EARLIER_REQUESTS);
    const others = sendAll(
      Array.from({ length: REQUESTS_PER_KEY }, () => quiet.client.key),
      1,
    );
    const rounds = Array.from({ length: REQUESTS_PER_KEY }, () => keys.map(({ key }) => key));
    const replies = await sendAll(rounds.flat(), CONNECTIONS);
    expect(withStatus(await others, 200)).toHaveLength(REQUESTS_PER_KEY);
    const refused = withStatus(replies, 429);
    expect(withStatus(replies, 200).length + refused.length).toBe(KEYS * REQUESTS_PER_KEY);
    const admitted = EARLIER_REQUESTS + withStatus(replies, 200).length;
    expect(admitted).toBeGreaterThanOrEqual(1_600);
    expect(admitted).toBeLessThanOrEqual(1_800);
    for (const { headers } of refused) {
      const reset = Number(headers.get("x-ratelimit-reset"));
      expect(headers.get("ratelimit-policy")).toBe('"organization";q=2000;w=60');
      expect(headers.get("ratelimit")).toBe(`"organization";r=0;t=${reset}`);
      expect(headers.get("x-ratelimit-limit")).toBe("2000");
      expect(headers.get("x-ratelimit-remaining")).toBe("0");
      expect(headers.get("retry-after")).toBe(String(Math.max(1, reset)));
      expect(reset).toBeLessThanOrEqual(61);
    }
  });

  it("is refused from the cache of the isolate", async () => {
    const world = await newWorld();
    await fillWindow(world.id, "default");
    const isolate = new Instrumented();
    const caller = world.client.via(isolate.fetch);
    expect((await caller.get("/v1/orgs")).status).toBe(429);
    isolate.forget();
    const again = await caller.get("/v1/orgs");
    expect(again.status).toBe(429);
    expect(again.headers.get("ratelimit-policy")).toBe('"organization";q=2000;w=60');
    expect(isolate.exchanges).toEqual([]);
  });
});

describe("a key with 1,000 concurrent reads", () => {
  it("has 100 admitted, and at most 32 more reach the database", async () => {
    const world = await newWorld();
    const isolate = new Instrumented();
    const caller = world.client.via(isolate.fetch);
    // Caches the key. Of another policy, so the default window is empty.
    await caller.get("/v1/deployments");
    isolate.forget();
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => caller.get("/v1/orgs")));
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    expect(count(200)).toBe(100);
    expect(count(429)).toBe(900);
    const maximum = 100 + LIMITS.concurrentReads.value;
    expect(isolate.database.length).toBeLessThanOrEqual(maximum);
    isolate.forget();
  });
});

describe("many sessions of one key", () => {
  it("have at most 32 reads in the database together before the limiter has decided", async () => {
    const world = await newWorld();
    const decided = Promise.withResolvers<void>();
    let isPaused = false;
    const limiters = {
      getByName: (name: string) => {
        const object = env.RATE_LIMITER.getByName(name);
        const consume = async (...request: Parameters<typeof object.consume>) => {
          if (isPaused) await decided.promise;
          return object.consume(...request);
        };
        return {
          ...object,
          consume,
          raiseVersion: (version: number) => object.raiseVersion(version),
        };
      },
    } as unknown as LimiterNamespace;
    const isolate = new Instrumented({ limiters });
    const sessions = await Promise.all(Array.from({ length: 4 }, () => signIn(world)));
    const callers = sessions.map(({ client }) => client.via(isolate.fetch));
    for (const caller of callers) await caller.get("/v1/orgs");
    isolate.forget();
    isPaused = true;
    const reads = callers.flatMap((caller) =>
      Array.from({ length: 20 }, () => caller.get("/v1/orgs")),
    );
    for (let tries = 0; isolate.objects.length < 80 && tries < 400; tries += 1) {
      await scheduler.wait(1);
    }
    expect(isolate.objects).toHaveLength(80);
    expect(isolate.database.length).toBeLessThanOrEqual(LIMITS.concurrentReads.value);
    decided.resolve();
    expect((await Promise.all(reads)).every(({ status }) => status === 200)).toBe(true);
    expect(isolate.database).toHaveLength(80);
  });
});

describe("the address limiter of wrangler.toml", () => {
  it("has the limit of the table", () => {
    const { value } = LIMITS.addressRequests;
    expect(wrangler).toContain(`simple = { limit = ${value}, period = 60 }`);
  });
});

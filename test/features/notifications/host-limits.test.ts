import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
  storedIntegration,
} from "../../support/delivery-rows.ts";
import { freezeTime } from "../../support/frozen-time.ts";
import { newProject, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const REQUESTS = 5;
const DEAD = "https://dead.longshore.dev/in";

const arrived = () => new Response(null, { status: 204 });
const refused = () => new Response(null, { status: 500 });

beforeEach(clearOutbox);

const newTenant = async () => newProject((await newWorld()).client);

/** One integration for each URL, each with as many deliveries. */
async function insertTo(project: Parsed, urls: readonly string[], now: number, count: number) {
  const ids: string[] = [];
  for (const url of urls) {
    const integrationId = await insertIntegration(project, { url });
    ids.push(...(await insertDeliveries(project, integrationId, now, count)));
  }
  return ids;
}

const hostOf = (url: string) => new URL(url).hostname;

/** The most requests to a host in any second. */
function mostInOneSecond({ received }: DeliveryHarness, host: string): number {
  const times = received.filter(({ url }) => hostOf(url) === host).map(({ at }) => at);
  return Math.max(
    0,
    ...times.map((end) => times.filter((at) => at > end - SECOND && at <= end).length),
  );
}

/** An endpoint that fails for one host. */
const failingAt = (host: string) =>
  new DeliveryHarness(({ url }) => (hostOf(url) === host ? refused() : arrived()));

describe("a host that does not answer 2xx", () => {
  it("gets five requests a second from all isolates, and those of another organization in turn", async () => {
    const [flooding, other] = [await newTenant(), await newTenant()];
    const harness = failingAt("dead.longshore.dev");
    const start = harness.now;
    const paths = Array.from({ length: 20 }, (_, at) => `${DEAD}/${at}`);
    const flood = await insertTo(flooding, paths, start, 50);
    const elsewhere = await insertTo(flooding, ["https://alive.longshore.dev/in"], start, 50);
    harness.enqueue([...flood, ...elsewhere]);
    await harness.runUntil(start);
    expect(mostInOneSecond(harness, "dead.longshore.dev")).toBe(REQUESTS);
    // What is sent to other hosts does not wait.
    for (const id of elsewhere) expect(await stored(id)).toMatchObject({ status: "succeeded" });

    await harness.runUntil(start + 3 * SECOND);
    const [one = ""] = await insertTo(other, [DEAD], harness.now, 1);
    harness.enqueue([one]);
    await harness.runUntil(start + 8 * SECOND);
    expect(await storedAttempts(one)).toMatchObject([{ number: 1, status_code: 500 }]);

    const claims = harness.roundTrips.filter((each) => each.some((sql) => /recursive/.test(sql)));
    const sent = harness.received.filter(({ url }) => url.startsWith(DEAD));
    expect(mostInOneSecond(harness, "dead.longshore.dev")).toBe(REQUESTS);
    expect(sent.length).toBeGreaterThan(3 * REQUESTS);
    // No run claims again and again what it may not send.
    expect(claims.length).toBeLessThan(200);
    expect(harness.logged).toEqual([]);
  });

  it("gets every delivery, and what waits is no attempt", async () => {
    const project = await newTenant();
    const harness = failingAt("dead.longshore.dev");
    const integrationId = await insertIntegration(project, { url: DEAD });
    const ids = await insertDeliveries(project, integrationId, harness.now, 12);
    harness.enqueue(ids);
    await harness.runUntil(harness.now);
    const rows = await Promise.all(ids.map(stored));
    const attempts = (await Promise.all(ids.map(storedAttempts))).map(({ length }) => length);
    expect(attempts.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    expect(rows.map(({ attempts }) => attempts)).toEqual(attempts);
    for (const row of rows) expect(row).toMatchObject({ status: "pending", finished_at: null });
    // Within minutes, each has been sent once and again after its first delay, as each 500 counts.
    harness.endpoint = arrived;
    await harness.runUntil(harness.now + MINUTE);
    for (const id of ids) expect(await stored(id)).toMatchObject({ status: "succeeded" });
    expect(await storedIntegration(integrationId)).toMatchObject({ failing_since: null });
  });

  it("is one host with all of its ports, notations and integrations", async () => {
    const project = await newTenant();
    const harness = new DeliveryHarness(refused);
    const urls = [
      "https://a.example.org/x",
      "https://A.EXAMPLE.org.:8443/y",
      "https://a.example.org/z",
    ];
    harness.enqueue(await insertTo(project, urls, harness.now, 4));
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(REQUESTS);
    expect([...harness.hosts.keys()]).toEqual(["a.example.org"]);
    const addresses = ["https://134744072/x", "https://8.8.8.8:8443/x", "https://8.8.4.4/x"];
    harness.enqueue(await insertTo(project, addresses, harness.now, 4));
    await harness.runUntil(harness.now);
    expect([...harness.hosts.keys()]).toEqual(["a.example.org", "8.8.8.8", "8.8.4.4"]);
    expect(mostInOneSecond(harness, "8.8.8.8")).toBe(REQUESTS);
  });
});

describe("a host that has answered 2xx", () => {
  it("is not limited until an hour later", async () => {
    const project = await newTenant();
    const host = "dead.longshore.dev";
    const harness = failingAt(host);
    harness.succeedAt(host);
    const burst = async () => {
      await clearOutbox();
      harness.received.length = 0;
      const urls = Array.from({ length: 12 }, (_, at) => `${DEAD}/${at}`);
      harness.enqueue(await insertTo(project, urls, harness.now, 1));
      await harness.runUntil(harness.now);
      return harness.received.length;
    };
    const start = harness.now;
    expect(await burst()).toBe(12);
    harness.now = start + HOUR - 1;
    expect(await burst()).toBe(12);
    harness.now = start + HOUR;
    expect(await burst()).toBe(REQUESTS);
  });

  it("costs an isolate one question, and one report a minute", async () => {
    const project = await newTenant();
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const integrationId = await insertIntegration(project);
    const send = async (count: number) => {
      const ids = await insertDeliveries(project, integrationId, harness.now, count);
      harness.enqueue(ids.slice(0, 1));
      await harness.runUntil(harness.now);
      for (const id of ids) expect(await stored(id)).toMatchObject({ status: "succeeded" });
      return harness.hostCalls.splice(0);
    };
    expect(await send(1)).toEqual(["ask", "succeed"]);
    expect(await send(200)).toEqual([]);
    harness.now += MINUTE - 1;
    expect(await send(20)).toEqual([]);
    harness.now += 1;
    expect(await send(20)).toEqual(["succeed"]);
    harness.now += HOUR;
    expect(await send(1)).toEqual(["ask", "succeed"]);
  });
});

describe("a limiter that cannot be called", () => {
  it("delays deliveries to hosts that the isolate does not know, and no others", async () => {
    const project = await newTenant();
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const known = await insertIntegration(project, { url: "https://known.longshore.dev/in" });
    harness.enqueue(await insertDeliveries(project, known, harness.now));
    await harness.runUntil(harness.now);
    const fails = () => Promise.reject(new Error("unavailable"));
    const object = { ask: fails, succeed: fails };
    harness.bindings = { HOST_LIMITER: { getByName: () => object } } as unknown as Partial<Env>;
    const unknown = await insertIntegration(project, { url: "https://unknown.longshore.dev/in" });
    const [first = ""] = await insertDeliveries(project, known, harness.now);
    const [second = ""] = await insertDeliveries(project, unknown, harness.now);
    harness.enqueue([first, second]);
    const start = harness.now;
    await harness.runUntil(start);
    expect(await stored(first)).toMatchObject({ status: "succeeded" });
    expect(await stored(second)).toMatchObject({
      ...{ status: "pending", attempts: 0, due_at: start + 5 * SECOND },
    });
    expect(harness.logged.join()).toContain("host_limiter.unavailable");
    harness.bindings = {};
    await harness.runUntil(start + 5 * SECOND);
    expect(await stored(second)).toMatchObject({ status: "succeeded", attempts: 1 });
  });
});

describe("a host on loopback", () => {
  it("is not limited in development, where other hosts are", async () => {
    const project = await newTenant();
    const harness = new DeliveryHarness(refused);
    harness.bindings = { ALLOW_INSECURE_WEBHOOKS: "true" };
    const urlsOf = (origin: string) => Array.from({ length: 12 }, (_, at) => `${origin}/${at}`);
    for (const origin of ["http://127.0.0.1:8790", "http://localhost", "https://[::1]"]) {
      harness.received.length = 0;
      harness.enqueue(await insertTo(project, urlsOf(origin), harness.now, 1));
      await harness.runUntil(harness.now);
      expect(harness.received).toHaveLength(12);
    }
    expect(harness.hostCalls).toEqual([]);
    harness.received.length = 0;
    harness.enqueue(
      await insertTo(project, urlsOf("http://localhost.example.org"), harness.now, 1),
    );
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(REQUESTS);
  });
});

describe("the limiter of a host", () => {
  beforeEach(freezeTime);

  const SUCCEEDED_AT = "succeededAt";
  const newObject = () => env.HOST_LIMITER.getByName(crypto.randomUUID());
  type Limiter = ReturnType<typeof newObject>;
  const savedAt = (limiter: Limiter) =>
    runInDurableObject(limiter, (_, { storage }) => storage.get<number>(SUCCEEDED_AT));
  const isGood = async (limiter: Limiter) => (await limiter.ask("one")).goodForMs > 0;

  it("decides for all isolates, and stores nothing of a host without a 2xx", async () => {
    const limiter = newObject();
    const decisions = await Promise.all(
      ["a", "b", "c", "d", "e", "f"].map((id) => limiter.ask(id)),
    );
    expect(decisions.map(({ waitMs }) => waitMs)).toEqual([0, 0, 0, 0, 0, SECOND]);
    const values = await runInDurableObject(limiter, async (_, { storage }) => storage.list());
    expect(values).toEqual(new Map());
  });

  it("knows the 2xx after it has lost its memory, and stores one a minute", async () => {
    const limiter = newObject();
    expect(await isGood(limiter)).toBe(false);
    const first = Date.now();
    await limiter.succeed();
    vi.setSystemTime(first + MINUTE - 1);
    await limiter.succeed();
    expect(await savedAt(limiter)).toBe(first);
    vi.setSystemTime(first + MINUTE);
    await limiter.succeed();
    expect(await savedAt(limiter)).toBe(first + MINUTE);
    await evictDurableObject(limiter);
    expect(await limiter.ask("one")).toEqual({ waitMs: 0, goodForMs: HOUR });
    vi.setSystemTime(first + MINUTE + HOUR);
    expect(await isGood(limiter)).toBe(false);
  });

  it("deletes what it has stored an hour after the last 2xx", async () => {
    const limiter = newObject();
    const first = Date.now();
    await limiter.succeed();
    vi.setSystemTime(first + HOUR - 1);
    await limiter.succeed();
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await savedAt(limiter)).toBe(first + HOUR - 1);
    vi.setSystemTime(first + 2 * HOUR);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await savedAt(limiter)).toBeUndefined();
    expect(await runDurableObjectAlarm(limiter)).toBe(false);
    expect(await isGood(limiter)).toBe(false);
  });
});

import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { wakeConsumers } from "../../../src/features/notifications/delivery/index.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  SECRET,
  stored,
  storedAttempts,
} from "../../support/delivery-rows.ts";
import { newProject, newWorld } from "../../support/world.ts";

const ORIGIN = "https://hooks.longshore.dev";

let project: Parsed;
/** The endpoints of one test, which no other test reaches. */
let place: string;

// On a busy machine, attempts would time out, and the third one would follow minutes later.
beforeAll(() => {
  const setTimer = globalThis.setTimeout;
  const extend = (run: () => void, ms?: number) =>
    setTimer(run, ms === LIMITS.deliveryTimeoutMs.value ? 200 * ms : ms);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(extend as typeof setTimeout);
});

afterAll(() => void vi.restoreAllMocks());

beforeEach(async () => {
  project = await newProject((await newWorld()).client);
  place = `${ORIGIN}/${crypto.randomUUID()}`;
});

const log = async (): Promise<{ path: string; headers: Record<string, string>; body: string }[]> =>
  (await fetch(`${place}/log`)).json();

/** Writes deliveries to an endpoint, and enqueues them in the local queue. */
async function enqueue(what: string, count: number): Promise<string[]> {
  const integrationId = await insertIntegration(project, { url: `${place}/${what}` });
  const ids = await insertDeliveries(project, integrationId, Date.now(), count);
  await wakeConsumers(env.DELIVERIES, ids);
  return ids;
}

async function waitFor(ids: readonly string[], fields: object): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const id of ids) expect(await stored(id)).toMatchObject(fields);
    },
    { timeout: 300_000, interval: 100 },
  );
}

/** Waits until each has succeeded, by its only attempt. */
async function waitForSuccess(ids: readonly string[]): Promise<void> {
  await waitFor(ids, { status: "succeeded" });
  for (const id of ids) expect(await storedAttempts(id)).toMatchObject([{ error: null }]);
}

/** Waits for an attempt, which retries may follow. Returns them. */
async function waitForAttempts(id: string): Promise<Parsed[]> {
  return vi.waitFor(
    async () => {
      const attempts = await storedAttempts(id);
      expect(attempts.length).toBeGreaterThan(0);
      return attempts;
    },
    { timeout: 300_000, interval: 100 },
  );
}

/** In which every message about a first retry has arrived. */
const RETRIES_MS = 8_000;

describe("the real queue, the real Worker and a network", () => {
  // The consumer claims whatever is due: late messages would take the deliveries of other files.
  afterAll(async () => {
    await clearOutbox();
    await scheduler.wait(RETRIES_MS);
  });

  it("deliver an event to a receiver, which verifies it", async () => {
    const ids = await enqueue("in", 12);
    await waitForSuccess(ids);
    const requests = await log();
    expect(new Set(requests.map(({ headers }) => headers["webhook-id"])).size).toBe(12);
    for (const { body, headers } of requests) new Webhook(SECRET).verify(body, headers);
  });

  it("retry a failed delivery, but not before it is due", async () => {
    const [id = ""] = await enqueue("flaky", 1);
    await waitFor([id], { status: "succeeded", attempts: 2 });
    const [first, second] = await storedAttempts(id);
    expect(first).toMatchObject({ status_code: 503, error: "answered 503", response: "not now" });
    expect(second.started_at - first.started_at).toBeGreaterThanOrEqual(4_500);
    const sent = (await log()).map(({ headers }) => headers["webhook-id"]);
    expect(sent).toEqual([sent[0], sent[0]]);
  });

  it("do not follow a redirect", async () => {
    const [id = ""] = await enqueue("moved", 1);
    for (const each of await waitForAttempts(id)) {
      expect(each).toMatchObject({ status_code: 307, error: "redirected" });
    }
    const requested = (await log()).map(({ path }) => path.split("/").at(-1));
    expect(new Set(requested)).toEqual(new Set(["moved"]));
  });

  it.each([
    "https://127.0.0.1",
    "https://[::1]",
    "https://2130706433",
    "https://localhost.",
    "http://hooks.longshore.dev",
    "https://hooks.longshore.dev:6379",
  ])("make no connection to %s", async (origin) => {
    const url = place.replace(ORIGIN, origin);
    const integrationId = await insertIntegration(project, { url: `${url}/canary` });
    const [id = ""] = await insertDeliveries(project, integrationId, Date.now());
    await wakeConsumers(env.DELIVERIES, [id]);
    for (const each of await waitForAttempts(id)) {
      expect(each).toMatchObject({ error: "the URL is not allowed", status_code: null });
    }
    expect(await log()).toEqual([]);
  });

  it("deliver to a healthy endpoint while requests to another one hang", async () => {
    const dead = await enqueue("dead", 20);
    const alive = await enqueue("in", 20);
    await waitForSuccess(alive);
    const started = (await log()).filter(({ path }) => path.endsWith("dead"));
    const hanging = await Promise.all(dead.map(stored));
    expect(hanging.map(({ status }) => status)).toEqual(Array(20).fill("pending"));
    // An endpoint that has not responded gets two requests at a time.
    expect(started.length).toBeGreaterThan(0);
    expect(started.length).toBeLessThanOrEqual(2);

    // An attempt that outlasts its batch is recorded too, and the others are sent.
    const isOver = new AbortController();
    const releases = (async () => {
      while (!isOver.signal.aborted) {
        await fetch(`${place}/release`);
        await scheduler.wait(50);
      }
    })();
    await waitForSuccess(dead);
    isOver.abort();
    await releases;
  });
});

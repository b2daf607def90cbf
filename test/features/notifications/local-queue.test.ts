import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { wakeConsumers } from "../../../src/features/notifications/delivery/index.ts";
import type { Parsed } from "../../support/client.ts";
import {
  insertDeliveries,
  insertIntegration,
  SECRET,
  stored,
  storedAttempts,
} from "../../support/delivery-harness.ts";
import { newProject, newWorld } from "../../support/world.ts";

const ORIGIN = "https://hooks.longshore.dev";

let project: Parsed;
/** The endpoints of one test, which no other test reaches. */
let place: string;

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

/** On a busy machine, the service stops waiting for an endpoint that has responded. */
const TIMED_OUT = { error: "timed out after 15 s" };

/** Waits until each has succeeded, by an attempt that follows only those that timed out. */
async function waitForSuccess(ids: readonly string[]): Promise<void> {
  await waitFor(ids, { status: "succeeded" });
  for (const id of ids) {
    const attempts = (await storedAttempts(id)).toReversed();
    const timedOut = attempts.slice(1).map(() => expect.objectContaining(TIMED_OUT));
    expect(attempts).toEqual([expect.objectContaining({ error: null }), ...timedOut]);
  }
}

async function waitForAttempts(ids: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const id of ids) expect(await storedAttempts(id)).toHaveLength(1);
    },
    { timeout: 300_000, interval: 100 },
  );
}

describe("the real queue, the real Worker and a network", () => {
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
    await waitForAttempts([id]);
    expect((await log()).map(({ path }) => path.split("/").at(-1))).toEqual(["moved"]);
    expect(await storedAttempts(id)).toMatchObject([{ status_code: 307, error: "redirected" }]);
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
    const ids = await insertDeliveries(project, integrationId, Date.now());
    await wakeConsumers(env.DELIVERIES, ids);
    await waitForAttempts(ids);
    expect(await storedAttempts(String(ids[0]))).toMatchObject([
      { error: "the URL is not allowed", status_code: null },
    ]);
    expect(await log()).toEqual([]);
  });

  it("deliver to a healthy endpoint while requests to another one hang", async () => {
    const dead = await enqueue("dead", 20);
    const alive = await enqueue("in", 20);
    await waitForSuccess(alive);
    const started = (await log()).filter(({ path }) => path.endsWith("dead"));
    const hanging = await Promise.all(dead.map(stored));
    expect(hanging.map(({ status }) => status)).toEqual(Array(20).fill("pending"));
    const timedOut = (await Promise.all(dead.map(storedAttempts))).flat();
    expect(timedOut).toEqual(timedOut.map(() => expect.objectContaining(TIMED_OUT)));
    // An endpoint that has not responded gets two requests at a time.
    expect(started.length).toBeGreaterThan(0);
    expect(started.length).toBeLessThanOrEqual(2 + timedOut.length);

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

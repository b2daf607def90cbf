import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
  storedIntegration,
} from "../../support/delivery-rows.ts";
import { HOSTILE } from "../../support/targets.ts";
import { newProject, newWorld } from "../../support/world.ts";

const TARGETS = Object.values(HOSTILE).flat();

/** In turn: each status redirects to a fifth of the targets. */
const REDIRECTS = [301, 302, 303, 307, 308];

const arrived = () => new Response(null, { status: 204 });

let project: Parsed;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
});

describe("a hostile target", () => {
  it("gets no connection if it is stored, and the attempt reveals nothing about it", async () => {
    expect(TARGETS.length).toBeGreaterThanOrEqual(60);
    const harness = new DeliveryHarness(arrived);
    const ids: string[] = [];
    for (const url of TARGETS) {
      const id = await insertIntegration(project, { url });
      ids.push(...(await insertDeliveries(project, id, harness.now)));
    }
    harness.enqueue(ids);
    await harness.runUntil(harness.now);
    expect(harness.received).toEqual([]);
    expect(harness.logged).toEqual([]);
    for (const [at, id] of ids.entries()) {
      expect(await stored(id), TARGETS[at]).toMatchObject({ status: "pending", attempts: 1 });
      const [attempt, ...others] = await storedAttempts(id);
      expect(others).toEqual([]);
      expect(attempt, TARGETS[at]).toMatchObject({
        error: "the URL is not allowed",
        status_code: null,
        response: null,
      });
    }
  });

  it("gets no request if an endpoint redirects to it, with whatever status", async () => {
    const statusOf = (at: number) => REDIRECTS[at % REDIRECTS.length];
    const harness = new DeliveryHarness(({ body }) => {
      const { data } = JSON.parse(body);
      const headers = { location: toHeader(TARGETS[data.at]) };
      return new Response(null, { status: Number(statusOf(data.at)), headers });
    });
    harness.succeedAt("hooks.longshore.dev");
    const integrationId = await insertIntegration(project);
    const ids = await insertDeliveries(project, integrationId, harness.now, TARGETS.length);
    harness.enqueue(ids);
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(TARGETS.length);
    for (const { url, redirect } of harness.received) {
      expect([url, redirect]).toEqual(["https://hooks.longshore.dev/in", "manual"]);
    }
    for (const [at, id] of ids.entries()) {
      expect(await storedAttempts(id), TARGETS[at]).toMatchObject([
        { number: 1, status_code: statusOf(at), error: "redirected", response: null },
      ]);
    }
  });

  it("gets a connection if insecure targets are allowed, as in local development", async () => {
    const harness = new DeliveryHarness(arrived);
    harness.bindings = { ALLOW_INSECURE_WEBHOOKS: "true" };
    const id = await insertIntegration(project, { url: "http://127.0.0.1:9/" });
    harness.enqueue(await insertDeliveries(project, id, harness.now));
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(1);
    expect(await storedIntegration(id)).toMatchObject({ failing_since: null });
  });
});

/** Headers are bytes; servers write what is not ASCII percent-encoded. */
function toHeader(url = ""): string {
  return url.replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
}

import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import {
  clearOutbox,
  Post,
  plantDeliveries,
  plantIntegration,
  stored,
  storedAttempts,
  storedIntegration,
} from "../../support/delivery-harness.ts";
import { HOSTILE } from "../../support/targets.ts";
import { newProject, newWorld } from "../../support/world.ts";

const TARGETS = Object.values(HOSTILE).flat();

const arrived = () => new Response(null, { status: 204 });

let project: Parsed;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
});

describe("a hostile target", () => {
  it("gets no connection if it is stored, and the attempt reveals nothing about it", async () => {
    expect(TARGETS.length).toBeGreaterThanOrEqual(60);
    const post = new Post(arrived);
    const ids: string[] = [];
    for (const url of TARGETS) {
      const id = await plantIntegration(project, { url });
      ids.push(...(await plantDeliveries(project, id, post.now)));
    }
    post.ring(ids);
    await post.runUntil(post.now);
    expect(post.received).toEqual([]);
    expect(post.logged).toEqual([]);
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

  it.each([301, 302, 303, 307, 308])(
    "gets no request if an endpoint redirects to it with %d",
    async (status) => {
      const post = new Post(({ body }) => {
        const { data } = JSON.parse(body);
        return new Response(null, { status, headers: { location: toHeader(TARGETS[data.at]) } });
      });
      const integrationId = await plantIntegration(project);
      const ids = await plantDeliveries(project, integrationId, post.now, TARGETS.length);
      post.ring(ids);
      await post.runUntil(post.now);
      expect(post.received).toHaveLength(TARGETS.length);
      for (const { url, redirect } of post.received) {
        expect([url, redirect]).toEqual(["https://hooks.longshore.dev/in", "manual"]);
      }
      for (const [at, id] of ids.entries()) {
        expect(await storedAttempts(id), TARGETS[at]).toMatchObject([
          { number: 1, status_code: status, error: "redirected", response: null },
        ]);
      }
    },
  );

  it("gets a connection if insecure targets are allowed, as in local development", async () => {
    const post = new Post(arrived);
    post.bindings = { ALLOW_INSECURE_WEBHOOKS: "true" };
    const id = await plantIntegration(project, { url: "http://127.0.0.1:9/" });
    post.ring(await plantDeliveries(project, id, post.now));
    await post.runUntil(post.now);
    expect(post.received).toHaveLength(1);
    expect(await storedIntegration(id)).toMatchObject({ failing_since: null });
  });
});

/** Headers are bytes; servers write what is not ASCII percent-encoded. */
function toHeader(url = ""): string {
  return url.replaceAll(/[^\0-\x7f]+/g, encodeURIComponent);
}

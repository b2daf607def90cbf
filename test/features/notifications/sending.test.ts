import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { USER_AGENT } from "../../../src/lib/fetch.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  insertDeliveries,
  insertIntegration,
  OLD_SECRET,
  SECRET,
  stored,
  storedAttempts,
  updateIntegration,
} from "../../support/delivery-rows.ts";
import { sendOne } from "../../support/delivery-steps.ts";
import { newProject, newTrust, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let project: Parsed;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
});

afterEach(() => {
  vi.useRealTimers();
});

const status = (code: number, headers: Record<string, string> = {}) =>
  new Response(null, { status: code, headers });

const LENGTH_9 = { "content-length": "9" };

/** A response whose body has two bytes, and then an error of the runtime. */
function breakingOff(message: string, headers: Record<string, string>): Response {
  const chunks = [new Uint8Array(2)];
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const chunk = chunks.pop();
      if (chunk) controller.enqueue(chunk);
      else controller.error(new Error(message));
    },
  });
  // A plain object: `new Response` would decode the stream according to the header.
  return { status: 200, headers: new Headers(headers), body } as Response;
}

describe("a request", () => {
  it("sends the event to the URL of the integration, signed as Standard Webhooks specifies", async () => {
    const { harness, id, start } = await sendOne(project, () => new Response("thanks"));
    await harness.runUntil(start);
    expect(harness.received).toHaveLength(1);
    const [request] = harness.received;
    const { results } = await env.DB.prepare("select * from deliveries where id = ?")
      .bind(id)
      .all();
    const eventId = String(results[0]?.["event_id"]);
    expect(request).toMatchObject({
      url: "https://hooks.longshore.dev/in",
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": eventId,
        "webhook-timestamp": String(Math.floor(start / 1_000)),
        "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      },
    });
    const verified = new Webhook(SECRET).verify(String(request?.body), request?.headers ?? {});
    expect(verified).toEqual({
      id: eventId,
      type: "changelog.created",
      timestamp: new Date(start).toISOString(),
      data: { at: 0 },
    });
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(await storedAttempts(id)).toMatchObject([
      { number: 1, started_at: start, status_code: 200, error: null, response: "thanks" },
    ]);
  });

  it("has a recorded response without the parts of the URL that the endpoint repeats", async () => {
    const url = "https://k3y7x9.longshore.dev/hooks/s3gm3nt?t0k3nn=qu3ry7";
    const echo = (at: number) => `${"x".repeat(at)}Cannot POST /hooks/s3gm3nt?t0k3nn=qu3ry7!`;
    for (const [at, expected] of [
      [0, "Cannot POST ***!"],
      // The excerpt ends within the repeated path.
      [1_000, `${echo(1_000).slice(0, 1_012)}***!`],
      [20, `${"x".repeat(20)}Cannot POST ***!`],
    ] as const) {
      const answer = () => new Response(echo(at), { status: 404 });
      const { harness, attempts, start } = await sendOne(project, answer, { url });
      await harness.runUntil(start);
      expect(await attempts()).toMatchObject([{ status_code: 404, response: expected }]);
    }
    const plain = "ü".repeat(600);
    const { harness, attempts, start } = await sendOne(project, () => new Response(plain), { url });
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ response: "ü".repeat(512) }]);
  });

  it("is signed with the previous secret too until that expires", async () => {
    const rotatedUntil = Date.now() + DAY;
    const { harness, integrationId, start } = await sendOne(project, () => status(204), {
      rotatedUntil,
    });
    await harness.runUntil(start);
    harness.now = rotatedUntil;
    harness.enqueue(await insertDeliveries(project, integrationId, rotatedUntil));
    await harness.runUntil(rotatedUntil);
    const [during, after] = harness.received;
    expect(during?.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    new Webhook(OLD_SECRET).verify(String(during?.body), during?.headers ?? {});
    expect(after?.headers["webhook-signature"]).toMatch(/^v1,\S+$/);
  });

  it("is an unsigned message for Slack, at most one a second", async () => {
    const harness = new DeliveryHarness(() => new Response("ok"));
    const integrationId = await insertIntegration(project, { type: "slack" });
    const ids = await insertDeliveries(project, integrationId, harness.now, 12);
    harness.enqueue(ids);
    await harness.runUntil(harness.now + MINUTE);
    expect(harness.received).toHaveLength(12);
    const times = harness.received.map(({ at }) => at);
    const gaps = times.slice(1).map((at, before) => at - Number(times[before]));
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(SECOND);
    expect(Number(times.at(-1)) - Number(times[0])).toBeLessThan(30 * SECOND);
    const [first] = harness.received;
    expect(Object.keys(first?.headers ?? {})).toEqual(["content-type", "user-agent"]);
    expect(JSON.parse(String(first?.body))).toMatchObject({ text: expect.any(String) });
    for (const id of ids)
      expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("tells Slack alone what who has created a deployment is called when it is sent", async () => {
    const first = await newWorld();
    const second = await newWorld();
    const trustId = await newTrust(second, { membershipId: second.membershipId });
    for (const [at, { membershipId }] of [first, second].entries())
      await env.DB.prepare(
        "update accounts set display_name = ?2 where id = (select account_id from memberships where id = ?1)",
      )
        .bind(membershipId, `Person ${at}`)
        .run();
    const creators = [
      { type: "person", membership_id: first.membershipId },
      { type: "ci", membership_id: second.membershipId, trust_id: trustId },
      { type: "ci", membership_id: second.membershipId, trust_id: "1CgDnQkZtH6hVJuWg8P7W9" },
      undefined,
    ];
    const sent = async (type: "slack" | "webhook") => {
      const harness = new DeliveryHarness(() => new Response("ok"));
      const integrationId = await insertIntegration(project, { type });
      const ids = await insertDeliveries(project, integrationId, harness.now, creators.length);
      for (const [at, id] of ids.entries())
        await env.DB.batch([
          env.DB.prepare("update deliveries set type = 'deployments.failed' where id = ?").bind(id),
          env.DB.prepare(
            "update events set data = ?2 where id = (select event_id from deliveries where id = ?1)",
          ).bind(id, JSON.stringify({ reason: `Reason ${at}`, created_by: creators[at] })),
        ]);
      harness.enqueue(ids);
      await harness.runUntil(harness.now + MINUTE);
      const bodies = harness.received.map(({ body }) => body);
      return creators.map((_, at) => bodies.find((body) => body.includes(`Reason ${at}`)) ?? "");
    };
    const names = (await sent("slack")).map((body) => /\*By\*\\n([^"]*)"/.exec(body)?.[1]);
    expect(names).toEqual(["Person 0", "deploy workflow", undefined, undefined]);
    for (const body of await sent("webhook")) expect(body).not.toMatch(/Person|workflow/);
  });

  it("is sent to Slack even if new deliveries keep arriving", async () => {
    const harness = new DeliveryHarness(() => new Response("ok"));
    const integrationId = await insertIntegration(project, { type: "slack" });
    for (let times = 0; times < 20; times += 1) {
      harness.enqueue(await insertDeliveries(project, integrationId, harness.now));
      await harness.runUntil(harness.now + SECOND / 2);
    }
    expect(harness.received.length).toBeGreaterThanOrEqual(5);
  });

  it.each([
    ["a retry", "attempts = 1", MINUTE],
    ["a delivery that is due in more than ten minutes", "attempts = 0", 10 * MINUTE + 1],
  ])("is not queued for Slack behind %s", async (_, set, inMs) => {
    const harness = new DeliveryHarness(() => new Response("ok"));
    const start = harness.now;
    const integrationId = await insertIntegration(project, { type: "slack" });
    const ids = await insertDeliveries(project, integrationId, start, 3);
    const [other = "", first = "", second = ""] = ids;
    await env.DB.prepare(`update deliveries set ${set}, due_at = ? where id = ?`)
      .bind(start + inMs, other)
      .run();
    // The claim that the fixture counts was long ago.
    await updateIntegration(integrationId, "last_sent_at = null");
    harness.enqueue([first, second]);
    await harness.runUntil(start);
    expect(harness.received).toHaveLength(1);
    await harness.runUntil(start + SECOND);
    expect(harness.received).toHaveLength(2);
    for (const id of [first, second]) {
      expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
    }
    expect(await stored(other)).toMatchObject({ status: "pending" });
  });
});

describe("a response", () => {
  it.each([
    ["é".repeat(700), "é".repeat(512)],
    [`a${"é".repeat(700)}`, `a${"é".repeat(511)}`],
    [`${"x".repeat(1_022)}😀`, "x".repeat(1_022)],
    ["short", "short"],
    ["a\0b", "a\ufffdb"],
    ["", null],
  ])("is stored up to 1,024 bytes, in whole characters (%#)", async (body, kept) => {
    const { harness, start, attempts } = await sendOne(project, () => new Response(body));
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: 200, response: kept }]);
  });

  it("is read up to 16 KiB", async () => {
    let given = 0;
    let canceled = false;
    const endless = () =>
      new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            given += 1_024;
            controller.enqueue(new Uint8Array(1_024).fill(65));
          },
          cancel: () => {
            canceled = true;
          },
        },
        { highWaterMark: 0 },
      );
    const { harness, start, id } = await sendOne(project, () => new Response(endless()));
    await harness.runUntil(start);
    expect([given, canceled]).toEqual([16_384, true]);
    expect(await stored(id)).toMatchObject({ status: "succeeded" });
  });

  const LOST = "Network connection lost.";
  it.each([
    ["without a length", LOST, {}, "the response broke off"],
    ["before its length", LOST, LENGTH_9, "the response ended before its declared length"],
    ["compressed", LOST, { ...LENGTH_9, "content-encoding": "gzip" }, "the response broke off"],
    [
      "in its gzip",
      "Gzip decompression failed.",
      { "content-encoding": "gzip" },
      "the response could not be decompressed",
    ],
    ["for another reason", "internal error", LENGTH_9, "the response could not be read"],
  ])("is a failure if it breaks off %s", async (_, message, headers, error) => {
    const { harness, start, attempts } = await sendOne(project, () =>
      breakingOff(message, headers),
    );
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: 200, error, response: null }]);
  });

  it("is a success if it is longer than the part that is read", async () => {
    const headers = { "content-length": "100000" };
    const body = "x".repeat(100_000);
    const { harness, start, attempts } = await sendOne(
      project,
      () => new Response(body, { headers }),
    );
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: 200, error: null }]);
  });
});

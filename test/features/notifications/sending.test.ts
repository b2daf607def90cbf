import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RETRY_DELAYS_MS } from "../../../src/features/notifications/delivery/retry-schedule.ts";
import { USER_AGENT } from "../../../src/lib/fetch.ts";
import type { Parsed } from "../../support/client.ts";
import {
  clearOutbox,
  DeliveryHarness,
  insertAttempts,
  insertDeliveries,
  insertIntegration,
  OLD_SECRET,
  SECRET,
  stored,
  storedAttempts,
  storedIntegration,
} from "../../support/delivery-harness.ts";
import { newProject, newTrust, newWorld } from "../../support/world.ts";

const ATTEMPTS = RETRY_DELAYS_MS.length + 1;
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

/** Enqueues a delivery to an integration whose endpoint responds like this. */
async function sendOne(
  answer: () => Response | Promise<Response>,
  fields: Parameters<typeof insertIntegration>[1] = {},
  options: ConstructorParameters<typeof DeliveryHarness>[1] = {},
) {
  const harness = new DeliveryHarness(answer, options);
  const integrationId = await insertIntegration(project, fields);
  const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
  const start = harness.now;
  harness.enqueue([id]);
  const attempts = () => storedAttempts(id);
  return { harness, id, integrationId, start, attempts };
}

const updateIntegration = (id: string, set: string) =>
  env.DB.prepare(`update integrations set ${set} where id = ?`).bind(id).run();

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
    const { harness, id, start } = await sendOne(() => new Response("thanks"));
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
      const { harness, attempts, start } = await sendOne(answer, { url });
      await harness.runUntil(start);
      expect(await attempts()).toMatchObject([{ status_code: 404, response: expected }]);
    }
    const plain = "ü".repeat(600);
    const { harness, attempts, start } = await sendOne(() => new Response(plain), { url });
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ response: "ü".repeat(512) }]);
  });

  it("is signed with the previous secret too until that expires", async () => {
    const rotatedUntil = Date.now() + DAY;
    const { harness, integrationId, start } = await sendOne(() => status(204), { rotatedUntil });
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

describe("an endpoint that fails", () => {
  it("gets a request after each delay of the schedule, and no more", async () => {
    const { harness, id, start, attempts } = await sendOne(
      () => new Response("no", { status: 500 }),
    );
    await harness.runUntil(start + 3 * DAY);
    const delays = RETRY_DELAYS_MS.map((delay) => delay / SECOND);
    expect(harness.received.map(({ at }) => (at - start) / 1_000)).toEqual(
      [0, ...delays].map((_, at) => delays.slice(0, at).reduce((sum, each) => sum + each, 0)),
    );
    expect(await stored(id)).toMatchObject({
      status: "failed",
      attempts: ATTEMPTS,
      failure_reason: null,
    });
    expect((await stored(id)).finished_at).toBe(harness.received.at(-1)?.at);
    const made = await attempts();
    expect(made.map(({ number }) => number)).toEqual(
      Array.from({ length: ATTEMPTS }, (_, at) => at + 1),
    );
    expect(made[0]).toMatchObject({ status_code: 500, error: "answered 500", response: "no" });
    expect(harness.queue.messages).toEqual([]);
  });

  it.each([0, 0.123, 0.999])(
    "gets no request before it is due, with a jitter of %d",
    async (chance) => {
      const { harness, id, start } = await sendOne(() => status(500), {}, { random: () => chance });
      let due = start;
      harness.endpoint = async ({ at }) => {
        expect(at).toBeGreaterThanOrEqual(due);
        expect(at).toBeLessThan(due + 1_000);
        return status(500);
      };
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        await harness.runUntil(due + 1_000);
        expect(harness.received).toHaveLength(attempt);
        due = (await stored(id)).due_at;
      }
      expect(harness.logged).toEqual([]);
    },
  );

  it("gets no request before its Retry-After is over", async () => {
    const answers = ["7200", new Date(Date.now() + 20 * HOUR).toUTCString()];
    const { harness, start } = await sendOne(() =>
      status(503, { "retry-after": answers.shift() ?? "" }),
    );
    await harness.runUntil(start + 11 * HOUR);
    expect(harness.received.map(({ at }) => at - start)).toEqual([0, 2 * HOUR]);
    // Retry-After counts up to 12 hours.
    await harness.runUntil(start + 14 * HOUR);
    expect(harness.received.map(({ at }) => at - start)).toEqual([0, 2 * HOUR, 14 * HOUR]);
  });

  it.each([301, 302, 307, 308])("is not followed if it redirects with %d", async (code) => {
    const location = "http://169.254.169.254/latest/meta-data";
    const { harness, start, attempts } = await sendOne(() => status(code, { location }));
    await harness.runUntil(start);
    expect(harness.received).toHaveLength(1);
    expect(await attempts()).toMatchObject([{ status_code: code, error: "redirected" }]);
  });

  it.each([
    ["Network connection lost.", "no connection, or lost before a valid response"],
    ["internal error; reference = 1234", "the request failed"],
    ["connect ECONNREFUSED 10.0.0.1:443", "the request failed"],
  ])("has a fixed error text if the runtime throws %j", async (message, error) => {
    const { harness, start, attempts } = await sendOne(() => {
      throw new Error(message);
    });
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: null, error, response: null }]);
  });

  it("gets no request if its URL cannot be decrypted", async () => {
    const { harness, integrationId, start, attempts } = await sendOne(() => status(204));
    await updateIntegration(integrationId, "url = ''");
    await harness.runUntil(start);
    expect(harness.received).toEqual([]);
    expect(await attempts()).toMatchObject([
      { error: "the URL or the secret could not be decrypted" },
    ]);
  });

  it.each([429, 502, 504])("gets no other delivery either after a %d", async (code) => {
    const answers = [status(code, { "retry-after": "30" })];
    const { harness, integrationId, start } = await sendOne(() => answers.pop() ?? status(204));
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({
      paused_until: start + 30 * SECOND,
    });
    const others = await insertDeliveries(project, integrationId, start, 3);
    harness.enqueue([...others, ...others]);
    await harness.runUntil(start + 29 * SECOND);
    expect(harness.received).toHaveLength(1);
    for (const id of others) {
      expect(await stored(id)).toMatchObject({ attempts: 0, due_at: start });
    }
    await harness.runUntil(start + 30 * SECOND);
    expect(harness.received).toHaveLength(5);
    expect(harness.logged).toEqual([]);
  });

  it("is disabled by a 410, with a changelog entry and an event", async () => {
    const { harness, id, integrationId, start } = await sendOne(() => status(410));
    const other = await insertIntegration(project, { url: "https://other.longshore.dev/" });
    const [second = ""] = await insertDeliveries(project, integrationId, start + MINUTE);
    harness.endpoint = ({ url }) => status(url.startsWith("https://other.") ? 204 : 410);
    await harness.runUntil(start + 2 * MINUTE);
    expect(await stored(id)).toMatchObject({ status: "failed", attempts: 1 });
    expect(await storedIntegration(integrationId)).toMatchObject({
      disabled_at: start,
      disabled_reason: "gone",
    });
    expect(harness.received.map(({ url }) => new URL(url).hostname)).toEqual([
      "hooks.longshore.dev",
      "other.longshore.dev",
    ]);
    expect(JSON.parse(String(harness.received[1]?.body))).toMatchObject({
      type: "changelog.created",
      data: { action: "disabled", record: { type: "integration", id: integrationId } },
    });
    const entry = await env.DB.prepare(
      "select * from changelog_entries where project_id = ? and record_id = ?",
    )
      .bind(project.id, integrationId)
      .first<Record<string, string>>();
    expect(entry).toMatchObject({ account_id: null, key_id: null, action: "disabled" });
    expect(JSON.parse(String(entry?.["after"]))).toEqual({
      disabled_at: new Date(start).toISOString(),
      disabled_reason: "gone",
    });
    // The first delivery failed with its attempt; the second was not sent.
    expect(await stored(id)).toMatchObject({ failure_reason: null });
    harness.enqueue([second]);
    await harness.runUntil(start + 3 * MINUTE);
    expect(await stored(second)).toMatchObject({
      status: "failed",
      attempts: 0,
      failure_reason: "integration_disabled",
    });
    expect(await storedIntegration(other)).toMatchObject({ disabled_at: null });
  });

  it("is disabled after five days of nothing but failures; a success resets them", async () => {
    const { harness, integrationId, start } = await sendOne(() => status(500));
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ failing_since: start });
    const tryAt = async (moment: number, code: number) => {
      harness.now = moment;
      harness.endpoint = () => status(code);
      harness.enqueue(await insertDeliveries(project, integrationId, moment));
      await harness.runUntil(moment);
    };
    await tryAt(start + 4 * DAY, 500);
    expect(await storedIntegration(integrationId)).toMatchObject({ failing_since: start });
    await tryAt(start + 4 * DAY + 1, 204);
    const again = start + 4 * DAY + 2;
    await tryAt(again, 500);
    await tryAt(again + 5 * DAY - 1, 500);
    expect(await storedIntegration(integrationId)).toMatchObject({
      failing_since: again,
      disabled_at: null,
    });
    await tryAt(again + 5 * DAY, 500);
    expect(await storedIntegration(integrationId)).toMatchObject({ disabled_at: null });
    const twice = again + 5 * DAY + 10 * SECOND;
    await harness.runUntil(twice);
    const { disabled_at } = await storedIntegration(integrationId);
    expect(disabled_at).toBeGreaterThan(again + 5 * DAY);
    expect(disabled_at).toBeLessThanOrEqual(twice);
    expect(await storedIntegration(integrationId)).toMatchObject({
      disabled_reason: "failing",
    });
  });

  it.each([
    [5 * DAY - 1, null],
    [5 * DAY, "failing"],
  ])("whose retry fails %i ms after its first failure is disabled as: %s", async (age, reason) => {
    const { harness, id, integrationId, start } = await sendOne(() => status(500));
    await updateIntegration(integrationId, `failing_since = ${start - age}`);
    await insertAttempts(id, 1);
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ disabled_reason: reason });
  });

  it("does not shorten a longer pause", async () => {
    const { harness, integrationId, start } = await sendOne(() => status(204));
    const paused_until = start + HOUR;
    harness.endpoint = async () => {
      await updateIntegration(integrationId, `paused_until = ${paused_until}`);
      return status(429, { "retry-after": "30" });
    };
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ paused_until });
  });

  it("is disabled once by two concurrent 410s, with one changelog entry", async () => {
    const { harness, integrationId, start } = await sendOne(() => status(410));
    // The update has the same millisecond, so `updated_at` alone does not show it.
    await updateIntegration(integrationId, `updated_at = ${start}`);
    harness.enqueue(await insertDeliveries(project, integrationId, start));
    await harness.runUntil(start);
    expect(harness.received).toHaveLength(2);
    expect(await storedIntegration(integrationId)).toMatchObject({ disabled_at: start });
    const { results } = await env.DB.prepare("select * from changelog_entries where record_id = ?")
      .bind(integrationId)
      .all();
    expect(results).toMatchObject([{ action: "disabled" }]);
  });

  it("is not disabled after five days if another delivery succeeds meanwhile", async () => {
    const { harness, id, integrationId, start } = await sendOne(() => status(204));
    await updateIntegration(integrationId, `failing_since = ${start - 6 * DAY}`);
    await insertAttempts(id, 1);
    harness.endpoint = async () => {
      await updateIntegration(integrationId, "failing_since = null");
      return status(500);
    };
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({
      failing_since: start,
      disabled_at: null,
    });
  });

  it("gets the retry if it was enabled again while a 410 was on its way", async () => {
    const { harness, id, integrationId, start } = await sendOne(() => status(410));
    harness.endpoint = async () => {
      await updateIntegration(integrationId, "updated_at = updated_at + 1");
      return status(410);
    };
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ disabled_at: null });
    expect(await stored(id)).toMatchObject({ status: "pending", attempts: 1, finished_at: null });
    harness.endpoint = () => status(204);
    await harness.runUntil(start + 6 * SECOND);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  it("is neither disabled nor paused by a response of its previous URL", async () => {
    const { harness, integrationId, start } = await sendOne(() => status(204));
    harness.endpoint = async () => {
      await updateIntegration(integrationId, "url = 'changed'");
      return status(410);
    };
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({
      disabled_at: null,
      failing_since: null,
    });
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
    const { harness, start, attempts } = await sendOne(() => new Response(body));
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
    const { harness, start, id } = await sendOne(() => new Response(endless()));
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
    const { harness, start, attempts } = await sendOne(() => breakingOff(message, headers));
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: 200, error, response: null }]);
  });

  it("is a success if it is longer than the part that is read", async () => {
    const headers = { "content-length": "100000" };
    const body = "x".repeat(100_000);
    const { harness, start, attempts } = await sendOne(() => new Response(body, { headers }));
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: 200, error: null }]);
  });
});

import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RETRY_DELAYS_MS } from "../../../src/features/notifications/delivery/retry-schedule.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox } from "../../support/delivery-harness.ts";
import {
  insertAttempts,
  insertDeliveries,
  insertIntegration,
  stored,
  storedIntegration,
  updateIntegration,
} from "../../support/delivery-rows.ts";
import { sendOne } from "../../support/delivery-steps.ts";
import { newProject, newWorld } from "../../support/world.ts";

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

const status = (code: number, headers: Record<string, string> = {}) =>
  new Response(null, { status: code, headers });

describe("an endpoint that fails", () => {
  it("gets a request after each delay of the schedule, and no more", async () => {
    const { harness, id, start, attempts } = await sendOne(
      project,
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
      const { harness, id, start } = await sendOne(
        project,
        () => status(500),
        {},
        { random: () => chance },
      );
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
    const { harness, start } = await sendOne(project, () =>
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
    const { harness, start, attempts } = await sendOne(project, () => status(code, { location }));
    await harness.runUntil(start);
    expect(harness.received).toHaveLength(1);
    expect(await attempts()).toMatchObject([{ status_code: code, error: "redirected" }]);
  });

  it.each([
    ["Network connection lost.", "no connection, or lost before a valid response"],
    ["internal error; reference = 1234", "the request failed"],
    ["connect ECONNREFUSED 10.0.0.1:443", "the request failed"],
  ])("has a fixed error text if the runtime throws %j", async (message, error) => {
    const { harness, start, attempts } = await sendOne(project, () => {
      throw new Error(message);
    });
    await harness.runUntil(start);
    expect(await attempts()).toMatchObject([{ status_code: null, error, response: null }]);
  });

  it("gets no request if its URL cannot be decrypted", async () => {
    const { harness, integrationId, start, attempts } = await sendOne(project, () => status(204));
    await updateIntegration(integrationId, "url = ''");
    await harness.runUntil(start);
    expect(harness.received).toEqual([]);
    expect(await attempts()).toMatchObject([
      { error: "the URL or the secret could not be decrypted" },
    ]);
  });

  it.each([429, 502, 504])("gets no other delivery either after a %d", async (code) => {
    const answers = [status(code, { "retry-after": "30" })];
    const { harness, integrationId, start } = await sendOne(
      project,
      () => answers.pop() ?? status(204),
    );
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
    const { harness, id, integrationId, start } = await sendOne(project, () => status(410));
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
    const { harness, integrationId, start } = await sendOne(project, () => status(500));
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
    const { harness, id, integrationId, start } = await sendOne(project, () => status(500));
    await updateIntegration(integrationId, `failing_since = ${start - age}`);
    await insertAttempts(id, 1);
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ disabled_reason: reason });
  });

  it("does not shorten a longer pause", async () => {
    const { harness, integrationId, start } = await sendOne(project, () => status(204));
    const paused_until = start + HOUR;
    harness.endpoint = async () => {
      await updateIntegration(integrationId, `paused_until = ${paused_until}`);
      return status(429, { "retry-after": "30" });
    };
    await harness.runUntil(start);
    expect(await storedIntegration(integrationId)).toMatchObject({ paused_until });
  });

  it("is disabled once by two concurrent 410s, with one changelog entry", async () => {
    const { harness, integrationId, start } = await sendOne(project, () => status(410));
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
    const { harness, id, integrationId, start } = await sendOne(project, () => status(204));
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
    const { harness, id, integrationId, start } = await sendOne(project, () => status(410));
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
    const { harness, integrationId, start } = await sendOne(project, () => status(204));
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

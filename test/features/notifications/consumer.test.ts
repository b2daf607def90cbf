import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import {
  breakEvent,
  insertDeliveries,
  insertIntegration,
  stored,
  storedAttempts,
  updateDelivery,
  updateIntegration,
} from "../../support/delivery-rows.ts";
import { roundTripsOf, STATEMENT_KINDS } from "../../support/delivery-steps.ts";
import { newProject, newWorld } from "../../support/world.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Of EXPLAIN QUERY PLAN: a real table, by its name or an alias. */
const SCANS_TABLE =
  /^SCAN (?:deliveries|due|more|failed|integrations|organizations|events|delivery_attempts|changelog_entries|projects|stacks|components)\b/;

const arrived = () => new Response(null, { status: 204 });
const refused = () => new Response(null, { status: 500 });

let project: Parsed;
let integrationId: string;

beforeEach(async () => {
  await clearOutbox();
  project = await newProject((await newWorld()).client);
  integrationId = await insertIntegration(project);
});

const prove = async (harness: DeliveryHarness, id = integrationId) => {
  harness.enqueue(await insertDeliveries(project, id, harness.now));
  await harness.runUntil(harness.now);
  harness.roundTrips.length = 0;
  harness.received.length = 0;
};

describe("a run of the sender", () => {
  it("uses two batches for an event: one claims it, and one records the attempt", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now));
    await harness.runUntil(harness.now);
    expect(roundTripsOf(harness)).toEqual([
      ["claim", "throttled"],
      ["attempts", "succeed", "healthy"],
    ]);

    const failing = new DeliveryHarness(refused, { instances: 1 });
    failing.enqueue(await insertDeliveries(project, integrationId, failing.now));
    await failing.runUntil(failing.now);
    expect(roundTripsOf(failing)).toEqual([
      ["claim", "throttled"],
      ["attempts", "fail", "failing"],
    ]);
  });

  it("records what it has sent in the batch that claims more", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    await prove(harness);
    harness.enqueue((await insertDeliveries(project, integrationId, harness.now, 100)).slice(0, 1));
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(100);
    const [first, ...others] = roundTripsOf(harness);
    const last = others.pop();
    expect(first).toEqual(["claim", "throttled"]);
    expect(last).toEqual(["attempts", "succeed", "healthy"]);
    const together = ["attempts", "succeed", "healthy", "claim"];
    expect(others.length).toBeGreaterThan(0);
    // A round trip that only claims or only records would double their number.
    expect(others.filter((each) => each.length === together.length)).toEqual(
      others.map(() => together),
    );
  });

  it("reads every row through an index", async () => {
    const harness = new DeliveryHarness(
      () => (harness.received.length > 1 ? arrived() : refused()),
      {
        instances: 1,
      },
    );
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 2));
    await harness.runUntil(harness.now + 10 * SECOND);
    await harness.sweep();
    // Its time is over with the first response, so that it releases the others.
    harness.enqueue(await insertDeliveries(project, integrationId, harness.now, 30));
    harness.endpoint = () => {
      harness.now += 9 * SECOND;
      return arrived();
    };
    await harness.runUntil(harness.now);
    const explained = new Set(
      harness.roundTrips.flat().filter((sql) => /deliver|integr/.test(sql)),
    );
    const kinds = STATEMENT_KINDS.filter(([, of]) => [...explained].some((sql) => of.test(sql)));
    expect(kinds.map(([kind]) => kind)).toEqual(STATEMENT_KINDS.map(([kind]) => kind));
    for (const sql of explained) {
      const { results } = await env.DB.prepare(`explain query plan ${sql}`)
        .bind(...Array.from(sql.matchAll(/\?/g), () => "[]"))
        .all<{ detail: string }>();
      const scanned = results
        .map(({ detail }) => detail)
        .filter((detail) => SCANS_TABLE.test(detail))
        // The sweep reads the whole index of pending deliveries.
        .filter(
          (detail) => !/^SCAN deliveries USING (?:COVERING )?INDEX deliveries_due$/.test(detail),
        );
      expect(scanned, sql).toEqual([]);
    }
  });

  it("sends a delivery once if two messages name it, and ignores an unknown ID", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    for (const delivery_id of [id, id, "1CiCzHVVXqZpdRYYCDUVHx", id]) {
      harness.queue.push({ delivery_id, others: [] }, 0);
    }
    await harness.runUntil(harness.now);
    expect(harness.received).toHaveLength(1);
    expect(harness.queue.messages).toEqual([]);
    harness.queue.push({ delivery_id: "1CiCzHVVXqZpdRYYCDUVHx", others: [] }, 0);
    await insertDeliveries(project, integrationId, harness.now);
    await harness.runUntil(harness.now);
    // The database decides what is due.
    expect(harness.received).toHaveLength(2);
  });

  it("sends each delivery once if several consumers get it", async () => {
    const harness = new DeliveryHarness(
      async () => {
        // Lets the other consumers run meanwhile.
        await scheduler.wait(0);
        return arrived();
      },
      { instances: 4 },
    );
    harness.succeedAt("hooks.longshore.dev");
    const ids = await insertDeliveries(project, integrationId, harness.now, 200);
    harness.enqueue(ids);
    expect(harness.queue.messages).toHaveLength(40);
    await harness.runUntil(harness.now);
    expect(harness.logged).toEqual([]);
    expect(harness.received).toHaveLength(200);
    expect(new Set(harness.received.map(({ headers }) => headers["webhook-id"])).size).toBe(200);
  });

  it("sends nothing of a deleted organization, whatever its purge has left", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const other = await newProject((await newWorld()).client);
    const otherIntegration = await insertIntegration(other, { url: "https://other.example.com/" });
    const left = await insertDeliveries(project, integrationId, harness.now, 3);
    const sent = await insertDeliveries(other, otherIntegration, harness.now, 2);
    await env.DB.prepare("update organizations set name = char(127) || id where id = ?")
      .bind(project.org_id)
      .run();
    harness.enqueue([...left, ...sent]);
    await harness.runUntil(harness.now);
    expect(harness.received.map(({ url }) => url)).toEqual(
      sent.map(() => "https://other.example.com/"),
    );
  });

  it("continues if one of its deliveries cannot be handled", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [bad = "", good = ""] = await insertDeliveries(project, integrationId, harness.now, 2);
    await breakEvent(bad);
    harness.enqueue([bad, good]);
    const start = harness.now;
    await harness.runUntil(start);
    expect(await stored(good)).toMatchObject({ status: "succeeded" });
    expect(await stored(bad)).toMatchObject({ status: "pending", attempts: 1 });
    expect(harness.logged).toHaveLength(1);
    expect(await stored(bad)).toMatchObject({ due_at: start + MINUTE });
    expect(await storedAttempts(bad)).toEqual([]);
  });

  it("leaves no rows of a delivery that is deleted while it is sent", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.endpoint = async () => {
      await env.DB.prepare("delete from deliveries where id = ?").bind(id).run();
      return refused();
    };
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await storedAttempts(id)).toEqual([]);
    await harness.runUntil(harness.now + MINUTE);
    expect(harness.received).toHaveLength(1);
    expect(harness.logged).toEqual([]);
  });
});

describe("a delivery", () => {
  it("uses up no attempt while its integration is paused again and again", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    harness.enqueue([id]);
    for (let times = 0; times < 4; times += 1) {
      await updateIntegration(integrationId, `paused_until = ${harness.now + 4 * MINUTE}`);
      await harness.runUntil(harness.now + 3 * MINUTE);
    }
    expect(harness.received).toEqual([]);
    expect(await stored(id)).toMatchObject({ status: "pending", attempts: 0 });
    await harness.runUntil(harness.now + 3 * MINUTE);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("that cannot be handled fails after 100 claims", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [bad = ""] = await insertDeliveries(project, integrationId, harness.now);
    await breakEvent(bad);
    await updateDelivery(bad, "attempts = 97");
    const start = harness.now;
    harness.enqueue([bad]);
    // The sweep wakes a consumer a minute after the end of each claim, at a full minute.
    await harness.runUntil(start + 5 * MINUTE);
    expect(await stored(bad)).toMatchObject({ status: "pending" });
    await harness.runUntil(start + 10 * MINUTE);
    expect(await stored(bad)).toMatchObject({
      status: "failed",
      attempts: 100,
      failure_reason: "too_many_attempts",
    });
    expect((await stored(bad)).finished_at).toBeGreaterThan(start);
    expect(harness.received).toEqual([]);
    expect(harness.queue.messages).toEqual([]);
  });
});

describe("an outage of the database", () => {
  const isDownWhile = (isDown: () => boolean) => () => ({
    hasCrashed: false,
    pass: async <Result>(run: () => Promise<Result>) => {
      if (isDown()) throw new Error("The database is down");
      return run();
    },
  });

  it("retries the messages of the batch", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = "", other = ""] = await insertDeliveries(project, integrationId, harness.now, 2);
    harness.newInvocation = isDownWhile(() => true);
    for (const delivery_id of [id, other]) harness.queue.push({ delivery_id, others: [] }, 0);
    await harness.runUntil(harness.now);
    expect(harness.queue.messages).toMatchObject(
      [id, other].map((delivery_id) => ({ body: { delivery_id }, attempts: 1 })),
    );
    expect(harness.logged.some((line) => line.includes('"event":"delivery.not_claimed"'))).toBe(
      true,
    );
  });

  it("fails no delivery, even if it lasts until no message is left", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    const start = harness.now;
    let isDown = true;
    harness.newInvocation = isDownWhile(() => isDown);
    harness.enqueue([id]);
    await harness.runUntil(start + 60 * MINUTE);
    expect(harness.queue.messages).toEqual([]);
    isDown = false;
    await harness.runUntil(start + 62 * MINUTE);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
  });

  it("that ends while requests are in progress loses no attempt", async () => {
    const harness = new DeliveryHarness(arrived, { instances: 1 });
    const [id = ""] = await insertDeliveries(project, integrationId, harness.now);
    let failures = 0;
    harness.newInvocation = isDownWhile(() => harness.received.length > 0 && ++failures <= 2);
    harness.enqueue([id]);
    await harness.runUntil(harness.now);
    expect(await stored(id)).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(await storedAttempts(id)).toHaveLength(1);
    expect(harness.received).toHaveLength(1);
  });
});

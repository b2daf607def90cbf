import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { batch } from "../../src/db/batch.ts";
import { openForWriting } from "../../src/db/client.ts";
import { writeChanges } from "../../src/features/housekeeping/changelog/write.ts";
import { projects } from "../../src/features/tenancy/project-table.ts";
import { systemContext } from "../../src/system-context.ts";
import type { Parsed } from "../support/client.ts";
import { clearOutbox, DeliveryHarness, type Received } from "../support/delivery-harness.ts";
import { insertIntegration, OLD_SECRET, SECRET } from "../support/delivery-rows.ts";
import { seededRandom } from "../support/random.ts";
import { newProject, newWorld } from "../support/world.ts";
import { FAULTS, type Fault, FaultInjector } from "./fault-injector.ts";

const DAY = 24 * 3_600_000;
const EVENTS = env.EFFORT.faultyEvents;
const STRIDE = env.EFFORT.deliveryFaultStride;
const CHANGES_A_BATCH = 100;
/** More failures of one event could exhaust its retries. */
const FAULTS_AN_EVENT = 3;

let project: Parsed;

beforeAll(async () => {
  // Records every statement that changes a finished delivery, or takes back more than one claim.
  await env.DB.batch([
    env.DB.prepare("create table status_regressions (id text)"),
    env.DB.prepare(
      `create trigger no_status_regression after update on deliveries
        when old.status <> 'pending' and new.status <> old.status
          or new.attempts < old.attempts - (new.status = 'pending')
        begin insert into status_regressions values (old.id); end`,
    ),
  ]);
});

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  project = await newProject((await newWorld()).client);
  await clearOutbox();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Makes changes to a project, each with its event; retries a batch that a fault prevented. */
async function produce(harness: DeliveryHarness, from: number, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => String(from + at));
  const change = (id: string) => ({
    projectId: project.id,
    action: "updated" as const,
    record: { type: "stack" as const, id },
    before: { name: "before" },
    after: { name: id },
  });
  for (;;) {
    await harness
      .invoke(async (bindings, execution) => {
        const { db } = openForWriting(bindings.DB);
        const fetch = async () => new Response();
        const options = { clock: { now: () => harness.now }, log: () => undefined, fetch };
        const ctx = systemContext(db, bindings, execution, options);
        // One record for each change: one request would produce one event for all its changes.
        const recorded = names.map((name, index) => {
          const updated = db.update(projects).set({ updatedAt: harness.now });
          const changelog = writeChanges(ctx, project.org_id, [change(name)], updated);
          return [`change ${index}`, { updated, changelog }] as const;
        });
        await batch(ctx.db, Object.fromEntries(recorded));
      })
      .catch(() => undefined);
    // After a fault, checks whether the changes were written.
    const made = await env.DB.prepare(
      "select 1 from changelog_entries where project_id = ? and record_id = ?",
    )
      .bind(project.id, names[0])
      .first();
    if (made) return;
  }
}

/** Verifies every request and records the received events. */
class Receiver {
  readonly events = new Map<string, string>();
  requests = 0;
  verified = 0;
  /** Requests that were also signed with the previous secret. */
  rotating = 0;
  readonly #webhooks = [new Webhook(SECRET), new Webhook(OLD_SECRET)] as const;

  take({ headers, body }: Received): string {
    this.requests += 1;
    const [newest, old] = this.#webhooks;
    const signatures = String(headers["webhook-signature"]).split(" ");
    newest.verify(body, headers);
    if (signatures.length > 1) {
      old.verify(body, headers);
      this.rotating += 1;
    }
    this.verified += 1;
    const { id, data } = JSON.parse(body);
    expect(headers["webhook-id"]).toBe(id);
    const known = this.events.get(id);
    if (known !== undefined) expect(data.record.id).toBe(known);
    this.events.set(id, data.record.id);
    return id;
  }
}

async function expectNoneLost(receiver: Receiver, count: number): Promise<void> {
  const [statuses, stored, unrecorded] = await env.DB.batch([
    env.DB.prepare(
      "select status, count(*) as count from deliveries where project_id = ? group by status",
    ).bind(project.id),
    // The project is told of a retry that a fault has failed.
    env.DB.prepare(
      "select count(*) as count from events where project_id = ? and data ->> '$.action' <> 'failing'",
    ).bind(project.id),
    // Every delivery has a success in the log, and no more attempts than claims.
    env.DB.prepare(
      `select id from deliveries where project_id = ? and not exists (
          select 1 from delivery_attempts where delivery_id = deliveries.id and status_code / 100 = 2)
        or (select max(number) from delivery_attempts where delivery_id = deliveries.id) > attempts`,
    ).bind(project.id),
  ]);
  expect(statuses?.results).toEqual([{ status: "succeeded", count }]);
  expect(stored?.results).toEqual([{ count }]);
  expect(unrecorded?.results).toEqual([]);
  expect(receiver.events.size).toBe(count);
  expect(new Set(receiver.events.values()).size).toBe(count);
  expect(await env.DB.prepare("select * from status_regressions").first()).toBeNull();
}

async function countRecorded(): Promise<number> {
  const row = await env.DB.prepare(
    `select count(*) as count from delivery_attempts
      join deliveries on deliveries.id = delivery_id where project_id = ?`,
  )
    .bind(project.id)
    .first<{ count: number }>();
  return Number(row?.count);
}

interface Scenario {
  events: number;
  /** `isKnown`: the endpoint has received the event before. `requests` counts this one. */
  answer(harness: DeliveryHarness, received: { isKnown: boolean; requests: number }): Response;
  /** Statements, at least one of which every run without a fault makes. */
  makes: readonly RegExp[];
}

const CLAIM = /with recursive/;
const RECORD = /^insert into "delivery_attempts"/;
const RELEASE = /^update "deliveries" set "attempts" = "deliveries"."attempts" - 1/;

const SCENARIOS: Record<string, Scenario> = {
  "an endpoint that fails each event once": {
    events: 3,
    answer: (_, { isKnown }) => new Response(null, { status: isKnown ? 204 : 500 }),
    makes: [CLAIM, RECORD],
  },
  "a consumer whose time ends before it has sent what it claimed": {
    events: 12,
    answer: (harness, { requests }) => {
      if (requests === 4) harness.now += 9_000;
      return new Response();
    },
    makes: [CLAIM, RECORD, RELEASE],
  },
};

describe("an injected fault", () => {
  async function run({ events, answer }: Scenario, choose: (point: number) => Fault | undefined) {
    await clearOutbox();
    const harness = new DeliveryHarness(() => new Response(), { instances: 1 });
    const receiver = new Receiver();
    const injector = new FaultInjector(choose);
    harness.endpoint = (request) => {
      const isKnown = receiver.events.has(String(request.headers["webhook-id"]));
      receiver.take(request);
      return answer(harness, { isKnown, requests: receiver.requests });
    };
    harness.newInvocation = () => injector.newInvocation();
    await produce(harness, 0, events);
    await harness.runUntil(harness.now + DAY);
    await expectNoneLost(receiver, events);
    // Every external call is a point.
    if (injector.injected === 0) {
      expect(injector.points).toBe(
        harness.roundTrips.length +
          harness.requests +
          harness.queue.sends +
          harness.hostCalls.length,
      );
    }
    return { harness, injector, recorded: await countRecorded() };
  }

  it.each(Object.entries(SCENARIOS))("loses no event, at every point: %s", async (_, scenario) => {
    await insertIntegration(project);
    const { harness, injector, recorded } = await run(scenario, () => undefined);
    expect(recorded).toBe(harness.requests);
    const statements = harness.roundTrips.flat();
    for (const made of scenario.makes) {
      expect(
        statements.some((sql) => made.test(sql)),
        String(made),
      ).toBe(true);
    }
    expect(injector.points).toBeGreaterThan(scenario.events + 4);
    for (const [kind, fault] of FAULTS.entries()) {
      // Their number varies: attempts that end at almost the same time share a batch.
      for (let at = 1 + (kind % STRIDE), isOver = false; !isOver; at += STRIDE) {
        const each = await run(scenario, (point) => (point === at ? fault : undefined));
        isOver = each.injector.injected === 0;
        if (isOver) expect(at).toBeGreaterThan(scenario.events + 4);
        // The log misses only what a consumer that died had not recorded.
        if (fault.crashes) expect(each.recorded).toBeLessThanOrEqual(each.harness.requests);
        else expect(each.recorded).toBe(each.harness.requests);
      }
    }
  });

  it(`loses none of ${EVENTS} events when three replies in ten fail`, async () => {
    const start = Date.now();
    await insertIntegration(project, { rotatedUntil: start + 600_000 });
    const random = seededRandom(7);
    const injector = new FaultInjector(() =>
      random.chance(0.02) ? random.pick(FAULTS) : undefined,
    );
    const receiver = new Receiver();
    const faults = new Map<string, number>();
    const harness = new DeliveryHarness((request) => {
      const id = receiver.take(request);
      const had = faults.get(id) ?? 0;
      if (had >= FAULTS_AN_EVENT || !random.chance(0.3)) return new Response("ok");
      faults.set(id, had + 1);
      const fault = random.pick(["refused", "reset", "time-out"]);
      if (fault === "refused") return new Response("down", { status: 500 });
      throw new Error(fault);
    });
    harness.newInvocation = () => injector.newInvocation();
    for (let made = 0; made < EVENTS; made += CHANGES_A_BATCH) {
      await produce(harness, made, CHANGES_A_BATCH);
    }
    await harness.runUntil(start + 2 * DAY);

    await expectNoneLost(receiver, EVENTS);
    expect(receiver.verified).toBe(receiver.requests);
    expect(receiver.rotating).toBeGreaterThan(EVENTS / 2);
    expect(receiver.rotating).toBeLessThan(receiver.requests);
    const faulty = [...faults.values()].reduce((sum, count) => sum + count, 0);
    expect(faulty / receiver.requests).toBeGreaterThan(0.25);
    expect(await countRecorded()).toBeLessThanOrEqual(harness.requests);
    // Few attempts are lost with the consumers that crash.
    expect(await countRecorded()).toBeGreaterThan(0.8 * receiver.requests);
    expect(injector.injected).toBeGreaterThan(EVENTS / 200);
  });
});

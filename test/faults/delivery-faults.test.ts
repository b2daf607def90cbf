import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { commit } from "../../src/db/batch.ts";
import { openForWriting } from "../../src/db/client.ts";
import { recordChanges } from "../../src/features/changelog/record.ts";
import { projects } from "../../src/features/projects/table.ts";
import { systemContext } from "../../src/system-context.ts";
import type { Parsed } from "../support/client.ts";
import {
  clearOutbox,
  DeliveryHarness,
  insertIntegration,
  OLD_SECRET,
  type Received,
  SECRET,
} from "../support/delivery-harness.ts";
import { seededRandom } from "../support/random.ts";
import { newProject, newWorld } from "../support/world.ts";
import { FAULTS, type Fault, FaultInjector } from "./fault-injector.ts";

const DAY = 24 * 3_600_000;
const EVENTS = Number(env.FAULTY_EVENTS);
const CHANGES_A_BATCH = 100;
/** More failures of one event could exhaust its retries. */
const FAULTS_AN_EVENT = 3;

let project: Parsed;

beforeAll(async () => {
  // Records every statement that changes a finished delivery.
  await env.DB.batch([
    env.DB.prepare("create table status_regressions (id text)"),
    env.DB.prepare(
      `create trigger no_status_regression after update on deliveries
        when old.status <> 'pending' and new.status <> old.status or new.attempts < old.attempts
        begin insert into status_regressions values (old.id); end`,
    ),
  ]);
});

beforeEach(async () => {
  await clearOutbox();
  vi.useFakeTimers({ toFake: ["Date"] });
  project = await newProject((await newWorld()).client);
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
          const statements = {
            project: db.update(projects).set({ updatedAt: harness.now }),
            changelog: recordChanges(ctx, project.org_id, [change(name)]),
          };
          return [`change ${index}`, statements] as const;
        });
        await commit(ctx, Object.fromEntries(recorded));
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

async function expectNoneLost(receiver: Receiver, events: number): Promise<void> {
  const { results } = await env.DB.prepare(
    "select status, count(*) as count from deliveries where project_id = ? group by status",
  )
    .bind(project.id)
    .all();
  expect(results).toEqual([{ status: "succeeded", count: events }]);
  expect(receiver.events.size).toBe(events);
  expect(new Set(receiver.events.values()).size).toBe(events);
  expect(await env.DB.prepare("select * from status_regressions").first()).toBeNull();
}

describe("an injected fault", () => {
  const FEW = 3;

  /** Sends a few events to an endpoint that fails each event once. */
  async function runFew(harness: DeliveryHarness, choose: (point: number) => Fault | undefined) {
    await clearOutbox();
    const receiver = new Receiver();
    const injector = new FaultInjector(choose);
    harness.endpoint = (request) => {
      const isKnown = receiver.events.has(String(request.headers["webhook-id"]));
      receiver.take(request);
      return new Response(null, { status: isKnown ? 204 : 500 });
    };
    harness.newInvocation = () => injector.newInvocation();
    await produce(harness, 0, FEW);
    await harness.runUntil(harness.now + DAY);
    await expectNoneLost(receiver, FEW);
    return injector;
  }

  it("loses no event, at every point and of every kind", async () => {
    await insertIntegration(project);
    const harness = new DeliveryHarness(() => new Response(), { instances: 1 });
    const { points } = await runFew(harness, () => undefined);
    // One batch and one enqueue to produce; two claims; two requests and two records for each event.
    expect(points).toBe(2 + 2 * (1 + 2 * FEW));
    for (const fault of FAULTS) {
      for (let at = 1; at <= points; at += 1) {
        const { injected } = await runFew(harness, (point) => (point === at ? fault : undefined));
        expect(injected).toBe(1);
      }
    }
  });

  it(`loses none of ${EVENTS} events when three replies in ten fail`, async () => {
    const start = Date.now();
    await insertIntegration(project, { rotatedUntil: start + 600_000 });
    const random = seededRandom(7);
    const injector = new FaultInjector(() =>
      random.chance(0.01) ? random.pick(FAULTS) : undefined,
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
    expect(injector.injected).toBeGreaterThan(EVENTS / 100);
  });
});

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
  OLD_SECRET,
  Post,
  plantIntegration,
  type Received,
  SECRET,
} from "../support/delivery-harness.ts";
import { newProject, newWorld } from "../support/world.ts";
import { randomOf } from "../walk/walk.ts";
import { GRIEFS, type Grief, Sabotage } from "./sabotage.ts";

const DAY = 24 * 3_600_000;
const EVENTS = 10_000;
const CHANGES_A_BATCH = 100;
/** An endpoint that fails an event more often might well make it fail for good. */
const FAULTS_AN_EVENT = 3;

let project: Parsed;

beforeAll(async () => {
  // What is not pending has come to its end: every statement that moves it on is kept.
  await env.DB.batch([
    env.DB.prepare("create table backslides (id text)"),
    env.DB.prepare(
      `create trigger no_backslide after update on deliveries
        when old.status <> 'pending' and new.status <> old.status or new.attempts < old.attempts
        begin insert into backslides values (old.id); end`,
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

/** Makes changes to a project, each with its event, as a verb does; makes up for what was lost. */
async function produce(post: Post, from: number, count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => String(from + at));
  const change = (id: string) => ({
    projectId: project.id,
    action: "updated" as const,
    record: { type: "stack" as const, id },
    before: { name: "before" },
    after: { name: id },
  });
  for (;;) {
    await post
      .invoke(async (bindings, execution) => {
        const { db } = openForWriting(bindings.DB);
        const options = { clock: { now: () => post.now }, log: () => undefined };
        const ctx = systemContext(db, bindings, execution, options);
        // Each change is recorded by itself, as a request has one event for all of its changes.
        const recorded = names.map((name) => ({
          project: db.update(projects).set({ updatedAt: post.now }),
          changelog: recordChanges(ctx, project.org_id, [change(name)]),
        }));
        const entries = recorded.map((each, index) => [`change ${index}`, each] as const);
        await commit(ctx, Object.fromEntries(entries));
      })
      .catch(() => undefined);
    // A caller who has heard nothing looks whether the change was made.
    const made = await env.DB.prepare(
      "select 1 from changelog_entries where project_id = ? and record_id = ?",
    )
      .bind(project.id, names[0])
      .first();
    if (made) return;
  }
}

/** What a receiver makes of what it gets: it verifies everything, and knows what it has had. */
class Receiver {
  readonly events = new Map<string, string>();
  requests = 0;
  verified = 0;
  /** How many came with the signature of the secret before as well. */
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

async function expectNothingLost(receiver: Receiver, events: number): Promise<void> {
  const { results } = await env.DB.prepare(
    "select status, count(*) as count from deliveries where project_id = ? group by status",
  )
    .bind(project.id)
    .all();
  expect(results).toEqual([{ status: "succeeded", count: events }]);
  expect(receiver.events.size).toBe(events);
  expect(new Set(receiver.events.values()).size).toBe(events);
  expect(await env.DB.prepare("select * from backslides").first()).toBeNull();
}

describe("whatever comes to grief", () => {
  const FEW = 3;

  /** A few events to an endpoint that fails each of them once. */
  async function runFew(post: Post, choose: (point: number) => Grief | undefined) {
    await clearOutbox();
    const receiver = new Receiver();
    const sabotage = new Sabotage(choose);
    post.endpoint = (request) => {
      const isKnown = receiver.events.has(String(request.headers["webhook-id"]));
      receiver.take(request);
      return new Response(null, { status: isKnown ? 204 : 500 });
    };
    post.newLife = () => sabotage.newLife();
    await produce(post, 0, FEW);
    await post.runUntil(post.now + DAY);
    await expectNothingLost(receiver, FEW);
    return sabotage;
  }

  it("loses nothing, at every single point and in every way", async () => {
    await plantIntegration(project);
    const post = new Post(() => new Response(), { slots: 1 });
    const { points } = await runFew(post, () => undefined);
    // A batch and a ring to produce; two claims, and for each event two requests and two records.
    expect(points).toBe(2 + 2 * (1 + 2 * FEW));
    for (const grief of GRIEFS) {
      for (let at = 1; at <= points; at += 1) {
        const { struck } = await runFew(post, (point) => (point === at ? grief : undefined));
        expect(struck).toBe(1);
      }
    }
  });

  it(`loses nothing of ${EVENTS} events, where three answers in ten are faulty`, async () => {
    const start = Date.now();
    await plantIntegration(project, { rotatedUntil: start + 600_000 });
    const random = randomOf(7);
    const sabotage = new Sabotage(() => (random.chance(0.01) ? random.pick(GRIEFS) : undefined));
    const receiver = new Receiver();
    const faults = new Map<string, number>();
    const post = new Post((request) => {
      const id = receiver.take(request);
      const had = faults.get(id) ?? 0;
      if (had >= FAULTS_AN_EVENT || !random.chance(0.3)) return new Response("ok");
      faults.set(id, had + 1);
      const fault = random.pick(["refused", "reset", "time-out"]);
      if (fault === "refused") return new Response("down", { status: 500 });
      throw new Error(fault);
    });
    post.newLife = () => sabotage.newLife();
    for (let made = 0; made < EVENTS; made += CHANGES_A_BATCH) {
      await produce(post, made, CHANGES_A_BATCH);
    }
    await post.runUntil(start + 2 * DAY);

    await expectNothingLost(receiver, EVENTS);
    expect(receiver.verified).toBe(receiver.requests);
    expect(receiver.rotating).toBeGreaterThan(EVENTS / 2);
    expect(receiver.rotating).toBeLessThan(receiver.requests);
    const faulty = [...faults.values()].reduce((sum, count) => sum + count, 0);
    expect(faulty / receiver.requests).toBeGreaterThan(0.25);
    expect(sabotage.struck).toBeGreaterThan(100);
  }, 300_000);
});

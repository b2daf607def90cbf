import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { createApp } from "../../src/app.ts";
import type { DeliveryMessage } from "../../src/features/notifications/delivery/index.ts";
import { secretContext, urlContext } from "../../src/features/notifications/integrations/index.ts";
import { cipherOf } from "../../src/lib/cipher.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Log } from "../../src/lib/log.ts";
import type { Parsed } from "./client.ts";
import { VirtualQueue } from "./virtual-queue.ts";

/** A request that an endpoint has got. */
export interface Received {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  redirect: string | undefined;
  at: number;
}

/** What an endpoint does with a request; the signal tells that nobody waits any more. */
export type Endpoint = (request: Received, signal: AbortSignal) => Response | Promise<Response>;

/** Something that an invocation of the worker does to the outside; it may come to grief with it. */
export interface Life {
  pass<Result>(run: () => Promise<Result>): Promise<Result>;
  readonly isOver: boolean;
}

const untroubled: Life = { pass: (run) => run(), isOver: false };

const SLOTS = 4;
const MINUTE = 60_000;

/** A worker of its own memory, which handles one thing after another. */
class Slot {
  life: Life = untroubled;
  readonly app: ReturnType<typeof createApp>;

  constructor(post: Post, random: () => number, log: Log) {
    this.app = createApp({
      clock: { now: () => post.now },
      log,
      random,
      fetch: (url, init) => this.life.pass(() => post.receive(url, init)),
    });
  }

  async run(post: Post, act: (bindings: Env, execution: ExecutionContext) => Promise<void>) {
    this.life = post.newLife();
    const under: Promise<unknown>[] = [];
    const execution = { waitUntil: (each: Promise<unknown>) => under.push(each) };
    await act(bindingsOf(post, this.life), execution as unknown as ExecutionContext);
    return Promise.allSettled(under);
  }
}

interface PostOptions {
  random?: () => number;
  /** How many workers there are. */
  slots?: number;
  /** Does not wait for what an invocation goes on with after its batch; `left` does. */
  leavesBehind?: boolean;
}

/** The sending side with a clock, a queue and a network that the test holds in its hands. */
export class Post {
  readonly queue = new VirtualQueue(() => this.now);
  readonly received: Received[] = [];
  readonly logged: string[] = [];
  /** The statements of each trip to the database. */
  readonly trips: D1PreparedStatement[][] = [];
  bindings: Partial<Env> = {};
  onStatement: (sql: string) => void = () => undefined;
  newLife: () => Life = () => untroubled;
  #now = Date.now();
  #sweptAt = 0;
  readonly #slots: Slot[];
  readonly #leavesBehind: boolean;
  readonly #left: Promise<unknown>[] = [];
  endpoint: Endpoint;

  constructor(endpoint: Endpoint, options: PostOptions = {}) {
    const { random = () => 0.5, slots = SLOTS, leavesBehind = false } = options;
    this.#leavesBehind = leavesBehind;
    this.endpoint = endpoint;
    const log: Log = (_, event, fields) => this.logged.push(JSON.stringify({ event, ...fields }));
    this.#slots = Array.from({ length: slots }, () => new Slot(this, random, log));
    this.now = this.#now;
  }

  get now(): number {
    return this.#now;
  }

  set now(moment: number) {
    this.#now = moment;
    if (vi.isFakeTimers()) vi.setSystemTime(moment);
  }

  async receive(url: string, init: RequestInit): Promise<Response> {
    const { method = "GET", redirect, body, signal } = init;
    const headers = init.headers as Record<string, string>;
    const request = { url, method, headers, redirect, body: String(body), at: this.now };
    this.received.push(request);
    if (!signal) throw new Error("A request without a time-out");
    return this.endpoint(request, signal);
  }

  /** Hands over what the queue has, until there is nothing that may come before this moment. */
  async runUntil(moment: number): Promise<void> {
    for (;;) {
      await this.#drain();
      const cron = Math.ceil((await nextSweep()) / MINUTE) * MINUTE;
      // Once a minute, whether the run before came to grief or not.
      const sweepAt = Math.max(cron, this.#sweptAt + MINUTE);
      const next = Math.min(this.queue.next, sweepAt);
      if (next > moment) break;
      this.now = Math.max(this.now, next);
      if (next === sweepAt) await this.sweep();
    }
    this.now = Math.max(this.now, moment);
  }

  /** Waits for what was left behind. */
  async left(): Promise<void> {
    await Promise.allSettled(this.#left.splice(0));
  }

  async sweep(): Promise<void> {
    const [slot] = this.#slots;
    this.#sweptAt = this.now;
    // A run that comes to grief is made up for by the next.
    await slot
      ?.run(this, (bindings, execution) => slot.app.sweep(bindings, execution))
      .catch(() => undefined);
  }

  /** One invocation of the worker, for what it has no handler of its own here. */
  async invoke(act: (bindings: Env, execution: ExecutionContext) => Promise<void>): Promise<void> {
    await this.#slots[0]?.run(this, act);
  }

  /** Rings for these, as the worker does after it has written them. */
  ring(ids: readonly string[]): void {
    for (const delivery_id of ids) this.queue.push({ delivery_id }, 0);
  }

  async #drain(): Promise<void> {
    await Promise.all(
      this.#slots.map(async (slot) => {
        for (let batch = this.queue.take(); batch; batch = this.queue.take()) {
          const taken = batch;
          const { promise: alive, resolve } = Promise.withResolvers<unknown>();
          const run = slot.run(this, async (bindings, execution) => {
            await slot.app.queue(taken.batch, bindings, execution);
            // What the invocation leaves behind does not hold up the queue.
            taken.complete(slot.life.isOver);
            resolve(undefined);
          });
          await Promise.race([alive, run]).catch(() => taken.complete(true));
          if (this.#leavesBehind) this.#left.push(run);
          else await run.catch(() => undefined);
        }
      }),
    );
  }
}

/** When the sweep will find something. */
async function nextSweep(): Promise<number> {
  const row = await env.DB.prepare(
    "select min(sweep_at) as at from deliveries where status = 'pending'",
  ).first<{ at: number | null }>();
  return row?.at ?? Number.POSITIVE_INFINITY;
}

function bindingsOf(post: Post, life: Life): Env {
  const queue = {
    sendBatch: (messages: { body: DeliveryMessage; delaySeconds?: number }[]) =>
      life.pass(async () => {
        for (const { body, delaySeconds = 0 } of messages) post.queue.push(body, delaySeconds);
      }),
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => {
        post.onStatement(sql);
        return session.prepare(sql);
      },
      batch: (statements: D1PreparedStatement[]) => {
        post.trips.push(statements);
        return life.pass(() => session.batch(statements));
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  const own = { DB: { withSession }, DELIVERIES: queue };
  return { ...env, ...own, ...post.bindings } as unknown as Env;
}

export const SECRET = `whsec_${btoa("a secret of 24 bytes....")}`;
export const OLD_SECRET = `whsec_${btoa("another one of 24 bytes.")}`;

/** An integration of a project as it is stored; by default one that wants to hear of changes. */
export async function plantIntegration(
  project: Parsed,
  fields: { url?: string; type?: string; rotatedUntil?: number; configuration?: object } = {},
): Promise<string> {
  const { url = "https://hooks.longshore.dev/in", type = "webhook", rotatedUntil } = fields;
  const { configuration = { changelog: true } } = fields;
  const id = newId(systemClock);
  const cipher = await cipherOf(env.ENCRYPTION_KEYS);
  const place = secretContext(project.org_id, id);
  const columns = {
    id,
    organization_id: project.org_id,
    project_id: project.id,
    type,
    configuration: JSON.stringify(configuration),
    url: await cipher.seal(url, urlContext(project.org_id, id)),
    shown_url: url,
    secret: type === "slack" ? null : await cipher.seal(SECRET, place),
    previous_secret: rotatedUntil === undefined ? null : await cipher.seal(OLD_SECRET, place),
    previous_secret_until: rotatedUntil ?? null,
    created_at: 1,
    updated_at: 1,
  };
  const names = Object.keys(columns);
  await env.DB.prepare(
    `insert into integrations (${names.join()}) values (${names.map(() => "?").join()})`,
  )
    .bind(...Object.values(columns))
    .run();
  return id;
}

/** Deliveries to an integration, due at this moment; their IDs. */
export async function plantDeliveries(
  project: Parsed,
  integrationId: string,
  now: number,
  count = 1,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId(systemClock));
  const rows = ids.map((id, at) => ({ id, event: newId(systemClock), at }));
  await env.DB.prepare(
    `insert into deliveries (id, organization_id, project_id, integration_id, event_id, type, data,
        occurred_at, status, attempts, due_at, sweep_at, created_at, updated_at)
      select value ->> 'id', ?2, ?3, ?4, value ->> 'event', 'changelog.created',
        json_object('at', value ->> 'at'), ?5, 'pending', 0, ?5, ?5 + 60000, ?5 + key, ?5
      from json_each(?1)`,
  )
    .bind(JSON.stringify(rows), project.org_id, project.id, integrationId, now)
    .run();
  return ids;
}

/** Recorded attempts of a delivery, each of its own claim. */
export async function plantAttempts(deliveryId: string, count: number): Promise<void> {
  await env.DB.batch([
    env.DB.prepare("update deliveries set attempts = attempts + ? where id = ?").bind(
      count,
      deliveryId,
    ),
    env.DB.prepare(
      `insert into delivery_attempts
        select deliveries.id, attempts - item.key, organization_id, 0, 0, 500, 'answered 500', null
        from deliveries, json_each(?) as item where deliveries.id = ?`,
    ).bind(JSON.stringify(Array(count).fill(0)), deliveryId),
  ]);
}

export interface Stored {
  id: string;
  status: string;
  failure_reason: string | null;
  attempts: number;
  due_at: number;
  sweep_at: number;
  claimed_until: number | null;
  finished_at: number | null;
}

export async function stored(id: string): Promise<Stored> {
  const row = await env.DB.prepare("select * from deliveries where id = ?")
    .bind(id)
    .first<Stored>();
  if (!row) throw new Error("There is no such delivery");
  return row;
}

export async function storedIntegration(id: string): Promise<Parsed> {
  return env.DB.prepare("select * from integrations where id = ?").bind(id).first();
}

export async function storedAttempts(deliveryId: string): Promise<Parsed[]> {
  const { results } = await env.DB.prepare(
    "select * from delivery_attempts where delivery_id = ? order by number",
  )
    .bind(deliveryId)
    .all();
  return results;
}

/** What other tests of the file have left pending would be swept along. */
export async function clearOutbox(): Promise<void> {
  const tables = ["delivery_attempts", "deliveries", "changelog_entries"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`delete from ${table}`)));
}

import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { createApp } from "../../src/app.ts";
import { HostWindow } from "../../src/features/notifications/delivery/host-window.ts";
import {
  type DeliveryMessage,
  wakeConsumers,
} from "../../src/features/notifications/delivery/index.ts";
import type { Log } from "../../src/lib/log.ts";
import { VirtualQueue } from "./virtual-queue.ts";

/** A request that an endpoint received. */
export interface Received {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  redirect: string | undefined;
  at: number;
}

/** Answers a request; the signal aborts when the sender stops waiting. */
export type Endpoint = (request: Received, signal: AbortSignal) => Response | Promise<Response>;

/** One invocation of the Worker; `pass` makes an external call, which a test may let fail. */
export interface Invocation {
  pass<Result>(run: () => Promise<Result>): Promise<Result>;
  readonly hasCrashed: boolean;
}

const faultless: Invocation = { pass: (run) => run(), hasCrashed: false };

const INSTANCES = 4;
const MINUTE = 60_000;

/** A Worker instance with its own memory that handles one invocation at a time. */
class WorkerInstance {
  invocation: Invocation = faultless;
  readonly app: ReturnType<typeof createApp>;
  /** Resolves when an invocation crashes, which ends the instance. */
  readonly crashed: Promise<void>;
  readonly #crash: () => void;

  constructor(harness: DeliveryHarness, random: () => number, log: Log) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.crashed = promise;
    this.#crash = resolve;
    this.app = createApp({
      clock: { now: () => harness.now },
      log: (...line) => {
        if (!this.invocation.hasCrashed) log(...line);
      },
      random,
      fetch: (url, init) => {
        if (!this.invocation.hasCrashed) harness.requests += 1;
        return this.#pass(() => harness.receive(url, init));
      },
    });
  }

  /** Returns when `act` and its `waitUntil` promises have ended, or when the instance has crashed. */
  async run(
    harness: DeliveryHarness,
    act: (bindings: Env, execution: ExecutionContext) => Promise<void>,
  ): Promise<void> {
    this.invocation = harness.newInvocation();
    const background: Promise<unknown>[] = [];
    const execution = { waitUntil: (each: Promise<unknown>) => background.push(each) };
    const bindings = bindingsOf(harness, (run) => this.#pass(run));
    const handled = act(bindings, execution as unknown as ExecutionContext);
    await Promise.race([this.crashed, handled.then(() => Promise.allSettled(background))]);
  }

  async #pass<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await this.invocation.pass(run);
    } finally {
      if (this.invocation.hasCrashed) this.#crash();
    }
  }
}

interface DeliveryHarnessOptions {
  random?: () => number;
  /** Number of Worker instances that take batches concurrently. One that crashes is replaced. */
  instances?: number;
  /** Does not wait for `waitUntil` promises after a batch; `waitForDetached` does. */
  detachesWaitUntil?: boolean;
}

/** Runs the queue consumer and the sweep with a clock, queue and network that the test controls. */
export class DeliveryHarness {
  readonly queue = new VirtualQueue(() => this.now);
  readonly received: Received[] = [];
  /** Those that the Worker made, whether or not an endpoint received them. */
  requests = 0;
  readonly logged: string[] = [];
  /** What the limiters of hosts know. */
  readonly hosts = new Map<string, HostWindow>();
  /** The calls of their limiters, by method. */
  readonly hostCalls: string[] = [];
  /** The statements of each round trip to the database. */
  readonly roundTrips: string[][] = [];
  openRoundTrips = 0;
  bindings: Partial<Env> = {};
  newInvocation: () => Invocation = () => faultless;
  #now = Date.now();
  #sweptAt = 0;
  readonly #newInstance: () => WorkerInstance;
  readonly #instances: WorkerInstance[];
  readonly #detachesWaitUntil: boolean;
  readonly #detached: Promise<unknown>[] = [];
  endpoint: Endpoint;

  constructor(endpoint: Endpoint, options: DeliveryHarnessOptions = {}) {
    const { random = () => 0.5, instances = INSTANCES, detachesWaitUntil = false } = options;
    this.#detachesWaitUntil = detachesWaitUntil;
    this.endpoint = endpoint;
    const log: Log = (_, event, fields) => this.logged.push(JSON.stringify({ event, ...fields }));
    this.#newInstance = () => new WorkerInstance(this, random, log);
    this.#instances = Array.from({ length: instances }, this.#newInstance);
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
    if (!signal) throw new Error("The request has no timeout signal");
    return this.endpoint(request, signal);
  }

  /** The host has just answered 2xx, which its limiter knows. */
  succeedAt(host: string): void {
    this.hosts.set(host, new HostWindow(this.now));
  }

  /** Delivers messages and runs sweeps until nothing is due before this moment. */
  async runUntil(moment: number): Promise<void> {
    for (;;) {
      await this.#drain();
      const cron = Math.ceil((await nextSweep()) / MINUTE) * MINUTE;
      // Once a minute, even after a failed run.
      const sweepAt = Math.max(cron, this.#sweptAt + MINUTE);
      const next = Math.min(this.queue.next, sweepAt);
      if (next > moment) break;
      this.now = Math.max(this.now, next);
      if (next === sweepAt) await this.sweep();
    }
    this.now = Math.max(this.now, moment);
  }

  /** Waits for the `waitUntil` promises of all batches. */
  async waitForDetached(): Promise<void> {
    await Promise.allSettled(this.#detached.splice(0));
  }

  async sweep(): Promise<void> {
    this.#sweptAt = this.now;
    // The next run repairs what a failed run leaves.
    await this.#runIn(0, (instance, bindings, execution) =>
      instance.app.sweep(bindings, execution),
    ).catch(() => undefined);
  }

  /** Runs code as one invocation of the Worker. */
  async invoke(act: (bindings: Env, execution: ExecutionContext) => Promise<void>): Promise<void> {
    await this.#runIn(0, (_, bindings, execution) => act(bindings, execution));
  }

  /** Wakes consumers as the Worker does after it has written deliveries. */
  enqueue(ids: readonly string[]): void {
    void wakeConsumers(this.queue.producer, ids);
  }

  async roundTrip<Result>(statements: string[], run: () => Promise<Result>): Promise<Result> {
    this.roundTrips.push(statements);
    this.openRoundTrips += 1;
    return run().finally(() => {
      this.openRoundTrips -= 1;
    });
  }

  async #runIn(
    at: number,
    act: (instance: WorkerInstance, bindings: Env, execution: ExecutionContext) => Promise<void>,
  ): Promise<void> {
    const instance = this.#instances[at] ?? this.#newInstance();
    try {
      await instance.run(this, (bindings, execution) => act(instance, bindings, execution));
    } finally {
      if (instance.invocation.hasCrashed) this.#instances[at] = this.#newInstance();
    }
  }

  async #drain(): Promise<void> {
    await Promise.all(
      this.#instances.map(async (_, at) => {
        for (let batch = this.queue.receiveBatch(); batch; batch = this.queue.receiveBatch()) {
          const taken = batch;
          const { promise: isHandled, resolve } = Promise.withResolvers<void>();
          const run = this.#runIn(at, async (instance, bindings, execution) => {
            await instance.app.queue(taken.batch, bindings, execution);
            if (instance.invocation.hasCrashed) return;
            // Its `waitUntil` promises do not delay the queue.
            taken.complete();
            resolve();
          });
          await Promise.race([isHandled, run]).catch(() => undefined);
          taken.crash();
          if (this.#detachesWaitUntil) this.#detached.push(run);
          else await run.catch(() => undefined);
        }
      }),
    );
  }
}

/** When the next sweep is due. */
async function nextSweep(): Promise<number> {
  const row = await env.DB.prepare(
    "select min(due_at) + 60000 as at from deliveries where status = 'pending'",
  ).first<{ at: number | null }>();
  return row?.at ?? Number.POSITIVE_INFINITY;
}

type Pass = Invocation["pass"];

/** The limiters of hosts, on the clock of the test. */
function hostLimitersOf(harness: DeliveryHarness, pass: Pass) {
  return {
    getByName: (host: string) => {
      const window = harness.hosts.get(host) ?? new HostWindow();
      harness.hosts.set(host, window);
      const call = <Result>(method: string, run: () => Result) => {
        harness.hostCalls.push(method);
        return pass(async () => run());
      };
      return {
        ask: (organizationId: string) => call("ask", () => window.ask(organizationId, harness.now)),
        succeed: () => call("succeed", () => window.succeed(harness.now)),
      };
    },
  };
}

function bindingsOf(harness: DeliveryHarness, pass: Pass): Env {
  const { producer } = harness.queue;
  const queue = {
    sendBatch: (messages: MessageSendRequest<DeliveryMessage>[]) =>
      pass(() => producer.sendBatch(messages)),
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => watchStatement(harness, pass, sql, session.prepare(sql)),
      batch: (statements: WatchedStatement[]) => {
        const run = () => session.batch(statements.map(({ bound }) => bound));
        return harness.roundTrip(
          statements.map(({ sql }) => sql),
          () => pass(run),
        );
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  const HOST_LIMITER = hostLimitersOf(harness, pass);
  const own = { DB: { withSession }, DELIVERIES: queue, HOST_LIMITER };
  return { ...env, ...own, ...harness.bindings } as unknown as Env;
}

interface WatchedStatement {
  sql: string;
  bound: D1PreparedStatement;
  bind(...values: unknown[]): WatchedStatement;
  run(): Promise<unknown>;
  all(): Promise<unknown>;
  raw(): Promise<unknown>;
  first(): Promise<unknown>;
}

function watchStatement(
  harness: DeliveryHarness,
  pass: Pass,
  sql: string,
  bound: D1PreparedStatement,
): WatchedStatement {
  const roundTrip = <Result>(run: () => Promise<Result>) =>
    harness.roundTrip([sql], () => pass(run));
  return {
    sql,
    bound,
    bind: (...values) => watchStatement(harness, pass, sql, bound.bind(...values)),
    run: () => roundTrip(() => bound.run()),
    all: () => roundTrip(() => bound.all()),
    raw: () => roundTrip(() => bound.raw()),
    first: () => roundTrip(() => bound.first()),
  };
}

/** Deletes pending deliveries of earlier tests, which a sweep would send. */
export async function clearOutbox(): Promise<void> {
  const tables = ["delivery_attempts", "deliveries", "events", "changelog_entries"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`delete from ${table}`)));
}

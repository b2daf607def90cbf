import { env } from "cloudflare:workers";
import { createApp } from "../../src/app.ts";
import type { DeliveryMessage } from "../../src/features/notifications/delivery/index.ts";
import type { Log } from "../../src/lib/log.ts";
import type { Invocation } from "./delivery-harness.ts";

type Pass = Invocation["pass"];

/** What all isolates share, apart from the database. */
export class SharedServices {
  now = Date.now();
  /** Of each key, as its rate limiter object knows it. */
  readonly versions = new Map<string, number>();
  readonly enqueued: DeliveryMessage[] = [];

  bindings(pass: Pass): Env {
    const own = {
      DB: databaseOf(pass),
      RATE_LIMITER: this.#limiters(pass),
      ADDRESS_LIMITER: { limit: () => pass(async () => ({ success: true })) },
      DELIVERIES: {
        sendBatch: (messages: readonly MessageSendRequest<DeliveryMessage>[]) =>
          pass(async () => {
            this.enqueued.push(...messages.map(({ body }) => body));
          }),
      },
    };
    return { ...env, ...own } as unknown as Env;
  }

  /** Admit every request, and know the version of their key. */
  #limiters(pass: Pass) {
    const versionOf = (name: string) => this.versions.get(name) ?? 0;
    const admitted = { admitted: true, by: "key", remaining: 1_000, waitMs: 0 };
    return {
      getByName: (name: string) => ({
        consume: () => pass(async () => ({ ...admitted, version: versionOf(name) })),
        isKnown: () => pass(async () => true),
        raiseVersion: (version: number) =>
          pass(async () => {
            this.versions.set(name, Math.max(version, versionOf(name)));
          }),
      }),
    };
  }
}

/** A Worker with its own memory, whose external calls may fail. */
export class FaultyIsolate {
  readonly #services: SharedServices;
  readonly #app: ReturnType<typeof createApp>;

  constructor(services: SharedServices, log: Log = () => undefined) {
    this.#services = services;
    this.#app = createApp({ clock: { now: () => services.now }, log });
  }

  /**
   * Returns after the response and the `waitUntil` promises.
   * @throws If the invocation crashes, or if the response is lost.
   */
  async fetch(request: Request, invocation: Invocation): Promise<Response> {
    const crash = Promise.withResolvers<never>();
    // Nobody waits for it if the invocation has crashed in the background.
    crash.promise.catch(() => undefined);
    const pass: Pass = async (run) => {
      try {
        return await invocation.pass(run);
      } finally {
        if (invocation.hasCrashed) crash.reject(new Error("The worker has crashed"));
      }
    };
    const background: Promise<unknown>[] = [];
    const execution = { waitUntil: (each: Promise<unknown>) => background.push(each) };
    const handle = async () => {
      const bindings = this.#services.bindings(pass);
      const context = execution as unknown as ExecutionContext;
      const response = await this.#app.fetch(request, bindings, context);
      await Promise.allSettled(background);
      return pass(async () => response);
    };
    return Promise.race([crash.promise, handle()]);
  }

  async sweep(): Promise<void> {
    const execution = { waitUntil: () => undefined } as unknown as ExecutionContext;
    await this.#app.sweep(
      this.#services.bindings((run) => run()),
      execution,
    );
  }
}

/** Each round trip passes through `pass`. */
function databaseOf(pass: Pass) {
  return {
    withSession: (constraint: string) => {
      const session = env.DB.withSession(constraint);
      return {
        prepare: (sql: string) => statementOf(pass, session.prepare(sql)),
        batch: (statements: FaultyStatement[]) =>
          pass(() => session.batch(statements.map(({ bound }) => bound))),
        getBookmark: () => session.getBookmark(),
      };
    },
  };
}

interface FaultyStatement {
  bound: D1PreparedStatement;
  bind(...values: unknown[]): FaultyStatement;
  run(): Promise<unknown>;
  all(): Promise<unknown>;
  raw(): Promise<unknown>;
  first(): Promise<unknown>;
}

function statementOf(pass: Pass, bound: D1PreparedStatement): FaultyStatement {
  return {
    bound,
    bind: (...values) => statementOf(pass, bound.bind(...values)),
    run: () => pass(() => bound.run()),
    all: () => pass(() => bound.all()),
    raw: () => pass(() => bound.raw()),
    first: () => pass(() => bound.first()),
  };
}

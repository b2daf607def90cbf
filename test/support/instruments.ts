import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { createApp } from "../../src/app.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import type { Fetch } from "../../src/lib/fetch.ts";
import { consoleLog } from "../../src/lib/log.ts";
import type { LimiterNamespace } from "../../src/rate-limits/index.ts";

export interface Statement {
  sql: string;
  params: readonly unknown[];
}

/** One exchange with D1 or with a Durable Object. */
export interface Exchange {
  with: "database" | "object";
  /** The constraint of the session; only for the database. */
  constraint?: string;
  statements: Statement[];
  /** From D1's metadata; only for a batch. */
  rowsRead?: number;
  rowsWritten?: number;
  /** Positions in the order of all starts and ends of exchanges. */
  began: number;
  ended: number;
}

/**
 * Begins the hashes of credentials that nobody can use, of which tests insert thousands. When they end, their objects are not
 * called, because each would be created for that: a runtime that has some thousand cannot open another file.
 */
export const UNUSABLE = "unusable ";

/** A Worker with its own memory that records every exchange. */
export class Instrumented {
  readonly exchanges: Exchange[] = [];
  readonly logged: { level: string; event: string; fields: Record<string, unknown> }[] = [];
  readonly fetch: (request: Request) => Promise<Response>;
  /** Runs the cron trigger. Unless the test has a clock, time stands still meanwhile: the purge makes no pauses. */
  readonly sweep: () => Promise<void>;
  #order = 0;

  constructor(
    options: {
      clock?: Clock;
      limiters?: LimiterNamespace;
      database?: D1Database;
      addressLimiter?: RateLimit;
      logs?: typeof env.ATTEMPT_LOG;
      organizationLimiters?: typeof env.ORGANIZATION_LIMITER;
      network?: Fetch;
      /** In place of those of the tests. */
      settings?: Record<string, string>;
    } = {},
  ) {
    const { limiters = env.RATE_LIMITER, database = env.DB } = options;
    let sweptAt: number | undefined;
    const clock = options.clock ?? { now: () => sweptAt ?? systemClock.now() };
    const app = createApp({
      clock,
      ...(options.network && { fetch: options.network }),
      log: (level, event, fields) => {
        this.logged.push({ level, event, fields });
        // Uses the console, because test/support/setup.ts searches every line for canary secrets.
        consoleLog(level, event, fields);
      },
    });
    const bindings = {
      ...env,
      ...options.settings,
      DB: this.#watchDatabase(database),
      RATE_LIMITER: this.#watchLimiters(limiters),
      ADDRESS_LIMITER: options.addressLimiter ?? env.ADDRESS_LIMITER,
      ATTEMPT_LOG: options.logs ?? env.ATTEMPT_LOG,
      ORGANIZATION_LIMITER: options.organizationLimiters ?? env.ORGANIZATION_LIMITER,
    };
    this.fetch = async (request) => {
      const execution = createExecutionContext();
      const response = await app.fetch(request, bindings, execution);
      await waitOnExecutionContext(execution);
      return response;
    };
    this.sweep = async () => {
      const execution = createExecutionContext();
      sweptAt = systemClock.now();
      try {
        await app.sweep(bindings, execution);
        await waitOnExecutionContext(execution);
      } finally {
        sweptAt = undefined;
      }
    };
  }

  get database(): Exchange[] {
    return this.exchanges.filter((exchange) => exchange.with === "database");
  }

  get objects(): Exchange[] {
    return this.exchanges.filter((exchange) => exchange.with === "object");
  }

  forget(): void {
    this.exchanges.length = 0;
    this.logged.length = 0;
  }

  async #record<Result>(
    exchange: Pick<Exchange, "with" | "statements"> & { constraint?: string },
    run: (record: Exchange) => Promise<Result>,
  ): Promise<Result> {
    this.#order += 1;
    const record: Exchange = { ...exchange, began: this.#order, ended: 0 };
    this.exchanges.push(record);
    try {
      return await run(record);
    } finally {
      this.#order += 1;
      record.ended = this.#order;
    }
  }

  #watchDatabase(database: D1Database): D1Database {
    const withSession = (constraint: string) => {
      const session = database.withSession(constraint);
      return {
        prepare: (sql: string) =>
          this.#watchStatement(constraint, session.prepare(sql), { sql, params: [] }),
        batch: (statements: WatchedStatement[]) =>
          this.#record(
            { with: "database", constraint, statements: statements.map((each) => each.statement) },
            async (record) => {
              const results = await session.batch(statements.map((each) => each.bound));
              record.rowsRead = results.reduce((sum, { meta }) => sum + meta.rows_read, 0);
              record.rowsWritten = results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
              return results;
            },
          ),
        getBookmark: () => session.getBookmark(),
      };
    };
    return { withSession } as unknown as D1Database;
  }

  #watchStatement(
    constraint: string,
    bound: D1PreparedStatement,
    statement: Statement,
  ): WatchedStatement {
    const record = <Result>(run: () => Promise<Result>) =>
      this.#record({ with: "database", constraint, statements: [statement] }, run);
    return {
      bound,
      statement,
      bind: (...params) =>
        this.#watchStatement(constraint, bound.bind(...params), { sql: statement.sql, params }),
      all: () => record(() => bound.all()),
      run: () => record(() => bound.run()),
      raw: () => record(() => bound.raw()),
      first: () => record(() => bound.first()),
    };
  }

  #watchLimiters(limiters: LimiterNamespace): typeof env.RATE_LIMITER {
    const watched = {
      getByName: (name: string) => {
        const object = limiters.getByName(name);
        const record = <Result>(method: string, run: () => Promise<Result>) =>
          this.#record({ with: "object", statements: [{ sql: method, params: [name] }] }, run);
        return {
          consume: (...args: Parameters<typeof object.consume>) =>
            record("consume", async () => object.consume(...args)),
          isKnown: () => record("isKnown", async () => object.isKnown()),
          version: () => record("version", async () => object.version()),
          raiseVersion: (version: number) =>
            record("raiseVersion", async () =>
              name.startsWith(UNUSABLE) ? undefined : object.raiseVersion(version),
            ),
          report: (...args: Parameters<typeof object.report>) =>
            record("report", async () => object.report(...args)),
        };
      },
    };
    return watched as unknown as typeof env.RATE_LIMITER;
  }
}

interface WatchedStatement {
  bound: D1PreparedStatement;
  statement: Statement;
  bind(...params: unknown[]): WatchedStatement;
  all(): Promise<unknown>;
  run(): Promise<unknown>;
  raw(): Promise<unknown>;
  first(): Promise<unknown>;
}

/** A database that runs `intervene` before the batch with this number, counted from 1. */
export function beforeBatch(number: number, intervene: () => Promise<unknown>): D1Database {
  let batches = 0;
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        batches += 1;
        if (batches === number) await intervene();
        return session.batch(statements);
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

export function deleteKey(id: string): Promise<unknown> {
  return env.DB.prepare("delete from api_keys where id = ?").bind(id).run();
}

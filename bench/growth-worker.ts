import worker from "../src/index.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface Timed {
  bound: D1PreparedStatement;
  bind(...values: unknown[]): Timed;
  all(): Promise<unknown>;
  raw(): Promise<unknown>;
  run(): Promise<unknown>;
}

/** Of this isolate, in ms, with the wait for other statements. */
let longest = 0;

interface TimedEnv extends Env {
  /** The path that responds with the time of the longest round trip to the database. */
  LONGEST_PATH: string;
}

// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env, execution) {
    if (new URL(request.url).pathname === env.LONGEST_PATH) return Response.json(longest);
    return worker.fetch(request, { ...env, DB: timeQueries(env.DB) }, execution);
  },
  scheduled: (controller, env, execution) =>
    worker.scheduled(controller, { ...env, DB: timeQueries(env.DB) }, execution),
} satisfies ExportedHandler<TimedEnv>;

function timeQueries(database: D1Database): D1Database {
  const withSession = (constraint: string) => {
    const session = database.withSession(constraint);
    return {
      prepare: (sql: string) => timeStatement(session.prepare(sql)),
      batch: (statements: readonly Timed[]) =>
        time(() => session.batch(statements.map(({ bound }) => bound))),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

function timeStatement(bound: D1PreparedStatement): Timed {
  return {
    bound,
    bind: (...values) => timeStatement(bound.bind(...values)),
    all: () => time(() => bound.all()),
    raw: () => time(() => bound.raw()),
    run: () => time(() => bound.run()),
  };
}

async function time<Result>(run: () => Promise<Result>): Promise<Result> {
  const startedAt = Date.now();
  try {
    return await run();
  } finally {
    longest = Math.max(longest, Date.now() - startedAt);
  }
}

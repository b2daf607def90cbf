import worker from "../src/index.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface Count {
  trips: number;
  statements: number;
  rowsRead: number;
}

interface Counted {
  bound: D1PreparedStatement;
  bind(...values: unknown[]): Counted;
  all(): Promise<D1Result>;
  run(): Promise<D1Result>;
}

/** The service, with the database queries of each request counted in response headers. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async fetch(request, env, execution) {
    const count = { trips: 0, statements: 0, rowsRead: 0 };
    const response = await worker.fetch(
      request,
      { ...env, DB: countQueries(env.DB, count) },
      execution,
    );
    const counted = new Response(response.body, response);
    for (const [name, value] of Object.entries(count)) {
      counted.headers.set(`bench-${name}`, String(value));
    }
    return counted;
  },
} satisfies ExportedHandler<Env>;

function countQueries(database: D1Database, count: Count): D1Database {
  const withSession = (constraint: string) => {
    const session = database.withSession(constraint);
    return {
      prepare: (sql: string) => countStatement(session.prepare(sql), count),
      batch: async (statements: readonly Counted[]) => {
        const results = await session.batch(statements.map(({ bound }) => bound));
        add(count, results);
        return results;
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

function countStatement(bound: D1PreparedStatement, count: Count): Counted {
  const counted = async (running: Promise<D1Result>) => {
    const result = await running;
    add(count, [result]);
    return result;
  };
  return {
    bound,
    bind: (...values) => countStatement(bound.bind(...values), count),
    all: () => counted(bound.all()),
    run: () => counted(bound.run()),
  };
}

function add(count: Count, results: readonly D1Result[]): void {
  count.trips += 1;
  count.statements += results.length;
  for (const { meta } of results) count.rowsRead += meta.rows_read;
}

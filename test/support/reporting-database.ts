import { env } from "cloudflare:workers";

/** The database of the tests, which reports this with each statement: a size, or a cost. */
export function reportingDatabase(reported: () => Partial<D1Meta>): D1Database {
  const report = <Result extends D1Result>(result: Result): Result => ({
    ...result,
    meta: { ...result.meta, ...reported() },
  });
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => statementOf(session.prepare(sql), report),
      batch: async (statements: ReportingStatement[]) =>
        (await session.batch(statements.map(({ bound }) => bound))).map(report),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

interface ReportingStatement {
  bound: D1PreparedStatement;
  bind(...values: unknown[]): ReportingStatement;
  run(): Promise<D1Result>;
  all(): Promise<D1Result>;
}

function statementOf(
  bound: D1PreparedStatement,
  report: <Result extends D1Result>(result: Result) => Result,
): ReportingStatement {
  return {
    bound,
    bind: (...values) => statementOf(bound.bind(...values), report),
    run: async () => report(await bound.run()),
    all: async () => report(await bound.all()),
  };
}

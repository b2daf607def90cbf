import { env } from "cloudflare:workers";

/** The database of the tests, which reports another size with each statement. */
export function sizedDatabase(size: number | (() => number)): D1Database {
  const report = <Result extends D1Result>(result: Result): Result => {
    const size_after = typeof size === "number" ? size : size();
    return { ...result, meta: { ...result.meta, size_after } };
  };
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => statementOf(session.prepare(sql), report),
      batch: async (statements: SizedStatement[]) =>
        (await session.batch(statements.map(({ bound }) => bound))).map(report),
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

interface SizedStatement {
  bound: D1PreparedStatement;
  bind(...values: unknown[]): SizedStatement;
  run(): Promise<D1Result>;
  all(): Promise<D1Result>;
}

function statementOf(
  bound: D1PreparedStatement,
  report: <Result extends D1Result>(result: Result) => Result,
): SizedStatement {
  return {
    bound,
    bind: (...values) => statementOf(bound.bind(...values), report),
    run: async () => report(await bound.run()),
    all: async () => report(await bound.all()),
  };
}

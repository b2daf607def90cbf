import type { Recording, StatementAnswer } from "./recording.ts";

/** Bindings that answer at once as they have answered to the recorded call. */
export function replayBindings({ statements, answers }: Recording): object {
  const bindings = Object.entries(answers).map(([name, methods]) => {
    const stub = Object.fromEntries(
      Object.entries(methods).map(([method, { result }]) => [
        method,
        () => Promise.resolve(result),
      ]),
    );
    return [name, { ...stub, getByName: () => stub }];
  });
  return { ...Object.fromEntries(bindings), DB: replayDatabase(statements) };
}

class ReplayedStatement {
  readonly answer: StatementAnswer;

  constructor(answer: StatementAnswer) {
    this.answer = answer;
  }

  bind(): this {
    return this;
  }

  all(): Promise<unknown> {
    return Promise.resolve(this.answer.all);
  }

  first(): Promise<unknown> {
    return Promise.resolve(this.answer.first);
  }

  raw(): Promise<unknown> {
    return Promise.resolve(this.answer.raw);
  }

  run(): Promise<unknown> {
    return Promise.resolve(this.answer.run);
  }
}

function replayDatabase(statements: Recording["statements"]): object {
  const prepared = new Map(
    Object.entries(statements).map(([sql, answer]) => [sql, new ReplayedStatement(answer)]),
  );
  const session = {
    prepare: (sql: string) => {
      const statement = prepared.get(sql);
      if (!statement) throw new Error(`The recorded call did not run this statement: ${sql}`);
      return statement;
    },
    batch: (batch: readonly ReplayedStatement[]) =>
      Promise.resolve(batch.map(({ answer }) => answer.batch)),
    getBookmark: () => "00000001-00000001-00000001-00000001",
  };
  return { ...session, withSession: () => session };
}

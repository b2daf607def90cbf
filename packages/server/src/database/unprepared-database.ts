export interface Statement {
  sql: string;
  values: readonly unknown[];
}

/** Of D1, for one statement, or for several in a transaction. */
export type D1Method = "all" | "raw" | "batch";

/** Prepares statements and runs them; returns what the call of D1 returns. */
export type RunStatements = (
  method: D1Method,
  statements: readonly Statement[],
) => Promise<unknown>;

/**
 * A database that is not asked for a statement before it runs. Each `prepare` and `bind` of Miniflare's own blocks this
 * process for milliseconds: with many of them, connections that were open time out before this process uses them again.
 */
export function toDatabase(run: RunStatements): D1Database {
  const database = {
    prepare: (sql: string) => new UnpreparedStatement(run, sql, []),
    batch: (statements: readonly Statement[]) => run("batch", statements),
  };
  return database as unknown as D1Database;
}

class UnpreparedStatement implements Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly #run: RunStatements;

  constructor(run: RunStatements, sql: string, values: readonly unknown[]) {
    this.#run = run;
    this.sql = sql;
    this.values = values;
  }

  bind(...values: readonly unknown[]): UnpreparedStatement {
    return new UnpreparedStatement(this.#run, this.sql, values);
  }

  all(): Promise<D1Result<Record<string, unknown>>> {
    return this.#run("all", [this]) as Promise<D1Result<Record<string, unknown>>>;
  }

  run(): Promise<D1Result<Record<string, unknown>>> {
    return this.all();
  }

  raw(): Promise<unknown> {
    return this.#run("raw", [this]);
  }

  async first(column?: string): Promise<unknown> {
    const [row] = (await this.all()).results;
    if (!row || column === undefined) return row ?? null;
    if (!Object.hasOwn(row, column)) throw new Error(`The result has no column ${column}.`);
    return row[column];
  }
}

import { noteDatabaseSize } from "../lib/database-size.ts";
import { UNITS, unitsOf, unitsOfParameters, unitsOfRows } from "../lib/database-units.ts";

/** Is called with the cost of statements, in units of `UNITS`, and the rows that they wrote, once they have run. */
export type Charge = (units: number, rowsWritten: number) => void;

/** What Drizzle calls. */
export type Session = Pick<D1DatabaseSession, "prepare" | "batch">;

/**
 * The same session, which charges for every statement, also for one that fails, and notes the size of
 * the database.
 */
export function meter(session: Session, charge: Charge): Session {
  return {
    prepare: (query) => {
      const statement: unknown = new MeteredStatement(session.prepare(query), charge);
      return statement as D1PreparedStatement;
    },
    batch: async <Row>(statements: D1PreparedStatement[]) => {
      let units = 0;
      let written = 0;
      for (const each of statements) if (each instanceof MeteredStatement) units += each.units;
      try {
        const results = await session.batch<Row>(statements.map(innerOf));
        for (const each of results) {
          units += unitsOfResult(each);
          written += each.meta.rows_written;
        }
        charge(units, written);
        return results;
      } catch (error) {
        charge(units + UNITS.failure * statements.length, 0);
        throw error;
      }
    },
  };
}

/** As far as Drizzle uses a statement. */
class MeteredStatement {
  readonly inner: D1PreparedStatement;
  /** Of its parameters. */
  readonly units: number;
  readonly #charge: Charge;

  constructor(statement: D1PreparedStatement, charge: Charge, units = 0) {
    this.inner = statement;
    this.units = units;
    this.#charge = charge;
  }

  bind(...values: unknown[]): MeteredStatement {
    return new MeteredStatement(
      this.inner.bind(...values),
      this.#charge,
      unitsOfParameters(values),
    );
  }

  run(): Promise<D1Result> {
    return this.#charged(this.inner.run(), (result) => result);
  }

  all(): Promise<D1Result> {
    return this.#charged(this.inner.all(), (result) => result);
  }

  /**
   * D1 reports nothing of `raw`. Like in a batch, of columns with the same name only the last is left, so a
   * select must not have two.
   */
  raw(): Promise<unknown[][]> {
    return this.#charged(this.inner.all(), ({ results }) =>
      results.map((row) => Object.values(row as object)),
    );
  }

  #charged<Result>(running: Promise<D1Result>, toResult: (ran: D1Result) => Result) {
    return running.then(
      (ran) => {
        this.#charge(this.units + unitsOfResult(ran), ran.meta.rows_written);
        return toResult(ran);
      },
      (error: unknown) => {
        this.#charge(this.units + UNITS.failure, 0);
        throw error;
      },
    );
  }
}

function innerOf(statement: D1PreparedStatement): D1PreparedStatement {
  return statement instanceof MeteredStatement ? statement.inner : statement;
}

/** Notes the size of the database, too. */
function unitsOfResult({ meta, results }: D1Result): number {
  noteDatabaseSize(meta);
  return unitsOf(meta) + unitsOfRows(results);
}

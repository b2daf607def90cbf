import { noteDatabaseSize } from "../lib/database-size.ts";
import { UNITS, unitsOf } from "../lib/database-units.ts";

/** Is called with the cost of statements, in units of `UNITS`, once they have run. */
export type Charge = (units: number) => void;

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
    batch: <Row>(statements: D1PreparedStatement[]) => {
      const results = session.batch<Row>(statements.map(inner));
      return charged(results, charge, statements.length);
    },
  };
}

/** As far as Drizzle uses a statement. */
class MeteredStatement {
  readonly inner: D1PreparedStatement;
  readonly #charge: Charge;

  constructor(statement: D1PreparedStatement, charge: Charge) {
    this.inner = statement;
    this.#charge = charge;
  }

  bind(...values: unknown[]): MeteredStatement {
    return new MeteredStatement(this.inner.bind(...values), this.#charge);
  }

  async run(): Promise<D1Result> {
    const [result] = await charged(this.inner.run().then(listOf), this.#charge, 1);
    return result;
  }

  async all(): Promise<D1Result> {
    const [result] = await charged(this.inner.all().then(listOf), this.#charge, 1);
    return result;
  }

  /**
   * D1 reports nothing of `raw`. Like in a batch, of columns with the same name only the last is left, so a
   * select must not have two.
   */
  async raw(): Promise<unknown[][]> {
    const { results } = await this.all();
    return results.map((row) => Object.values(row as object));
  }
}

function listOf<Item>(item: Item): [Item] {
  return [item];
}

function inner(statement: D1PreparedStatement): D1PreparedStatement {
  return statement instanceof MeteredStatement ? statement.inner : statement;
}

async function charged<Results extends readonly Pick<D1Result, "meta">[]>(
  results: Promise<Results>,
  charge: Charge,
  statements: number,
): Promise<Results> {
  try {
    const done = await results;
    const last = done.at(-1);
    if (last) noteDatabaseSize(last.meta);
    charge(done.reduce((units, { meta }) => units + unitsOf(meta), 0));
    return done;
  } catch (error) {
    charge(UNITS.failure * statements);
    throw error;
  }
}

import { noteDatabaseSize } from "../lib/database-size.ts";
import { UNITS, unitsOf, unitsOfParameters, unitsOfRows } from "../lib/database-units.ts";

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
      const results = session.batch<Row>(statements.map(innerOf));
      return charged(results, charge, statements);
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

  async run(): Promise<D1Result> {
    const [result] = await charged(this.inner.run().then(listOf), this.#charge, [this]);
    return result;
  }

  async all(): Promise<D1Result> {
    const [result] = await charged(this.inner.all().then(listOf), this.#charge, [this]);
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

function innerOf(statement: D1PreparedStatement): D1PreparedStatement {
  return statement instanceof MeteredStatement ? statement.inner : statement;
}

async function charged<Results extends readonly D1Result[]>(
  results: Promise<Results>,
  charge: Charge,
  statements: readonly unknown[],
): Promise<Results> {
  const sent = sum(statements, (each) => (each instanceof MeteredStatement ? each.units : 0));
  try {
    const done = await results;
    const last = done.at(-1);
    if (last) noteDatabaseSize(last.meta);
    charge(sent + sum(done, unitsOfResult));
    return done;
  } catch (error) {
    charge(sent + UNITS.failure * statements.length);
    throw error;
  }
}

function unitsOfResult({ meta, results }: D1Result): number {
  return unitsOf(meta) + unitsOfRows(results);
}

function sum<Item>(items: readonly Item[], unitsOfItem: (item: Item) => number): number {
  return items.reduce((units, item) => units + unitsOfItem(item), 0);
}

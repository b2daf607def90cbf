import { type SQL, sql } from "drizzle-orm";
import type { Database } from "./client.ts";

export type Statement = Parameters<Database["batch"]>[0][number];

/**
 * Named statements, in the order in which they run. A value can be a group of further statements;
 * `undefined` runs nothing. JavaScript puts names that are integers first.
 */
export interface Statements {
  readonly [name: string]: Statement | Statements | undefined;
}

export type Results<Group extends Statements> = {
  [Name in keyof Group]: ResultOf<Group[Name]>;
};

type ResultOf<Item> = Item extends Statement
  ? Item["_"]["result"]
  : Item extends Statements
    ? Results<Item>
    : undefined;

/** A statement that returns rows. */
export type RowsStatement<Row> = Statement & { _: { result: Row[] } };

type Observer = (rows: readonly never[]) => void;

const observers = new WeakMap<Statement, Observer>();

/**
 * Calls `observer` with the rows of the statement once `batch` has committed it, unless there are none.
 * An observer of several statements of a batch is called once, with the rows of all.
 */
export function observe<Row, Observed extends RowsStatement<Row>>(
  statement: Observed & RowsStatement<Row>,
  observer: (rows: readonly Row[]) => void,
): Observed {
  observers.set(statement, observer);
  return statement;
}

/** The statements that statements depend on. */
const origins = new WeakMap<Statement, Statement>();

/**
 * A statement that changes rows only if `origin` has changed one in the same batch. SQLite only tells how
 * many rows the previous statement has changed. So nothing may be between both but what depends on `origin`, too,
 * and changes a row whenever it does. `batch` refuses another order.
 * @param build Takes whether the statement directly before has changed a row, and how many.
 */
export function after<Dependent extends Statement | undefined>(
  origin: Statement,
  build: (hasChanged: SQL, changed: SQL) => Dependent,
): Dependent {
  const dependent = build(sql`changes() > 0`, sql`changes()`);
  if (dependent) origins.set(dependent, origins.get(origin) ?? origin);
  return dependent;
}

function requireAfterOrigin(statement: Statement, previous: Statement | undefined): void {
  const origin = origins.get(statement);
  if (!origin || previous === origin) return;
  if (previous && origins.get(previous) === origin) return;
  throw new Error("Another statement is between one and what it depends on");
}

/** One transaction, in one round trip. */
export async function batch<const Group extends Statements>(
  db: Database,
  statements: Group,
): Promise<Results<Group>> {
  const flat = flatten(statements, []);
  for (const [index, statement] of flat.entries()) requireAfterOrigin(statement, flat[index - 1]);
  const results: readonly unknown[] = isFilled(flat) ? await db.batch(flat) : [];
  const observed = new Map<Observer, never[]>();
  for (const [index, statement] of flat.entries()) {
    const observer = observers.get(statement);
    if (!observer) continue;
    observed.set(observer, [...(observed.get(observer) ?? []), ...(results[index] as never[])]);
  }
  for (const [observer, rows] of observed) if (rows.length > 0) observer(rows);
  return collect(statements, results.values()) as Results<Group>;
}

function isStatement(item: Statement | Statements): item is Statement {
  return "_prepare" in item;
}

function isFilled(statements: Statement[]): statements is [Statement, ...Statement[]] {
  return statements.length > 0;
}

function flatten(statements: Statements, into: Statement[]): Statement[] {
  for (const item of Object.values(statements)) {
    if (item === undefined) continue;
    if (isStatement(item)) into.push(item);
    else flatten(item, into);
  }
  return into;
}

/** Takes the results in the order of `flatten`. */
function collect(statements: Statements, results: Iterator<unknown>): object {
  const entries = Object.entries(statements).map(([name, item]) => {
    if (item === undefined) return [name, undefined];
    return [name, isStatement(item) ? results.next().value : collect(item, results)];
  });
  return Object.fromEntries(entries);
}

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

const observers = new WeakMap<Statement, (result: unknown) => void>();

/** Calls `observer` with the result of the statement once `runBatch` has committed it. */
export function observe<Observed extends Statement>(
  statement: Observed,
  observer: (result: Observed["_"]["result"]) => void,
): Observed {
  observers.set(statement, observer);
  return statement;
}

/** One transaction, in one round trip. */
export async function runBatch<const Group extends Statements>(
  db: Database,
  statements: Group,
): Promise<Results<Group>> {
  const flat = flatten(statements, []);
  const results: readonly unknown[] = isFilled(flat) ? await db.batch(flat) : [];
  for (const [index, statement] of flat.entries()) observers.get(statement)?.(results[index]);
  return collect(statements, results.values()) as Results<Group>;
}

/**
 * Runs the statements like `runBatch`. Then enqueues the deliveries whose IDs the statements return
 * as `deliveryId`. The sweep enqueues them later if this fails.
 */
export async function commit<const Group extends Statements>(
  { db, enqueue }: { db: Database; enqueue(deliveryIds: readonly string[]): void },
  statements: Group,
): Promise<Results<Group>> {
  const results = await runBatch(db, statements);
  const deliveryIds = deliveriesIn(results);
  if (deliveryIds.length > 0) enqueue(deliveryIds);
  return results;
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

function deliveriesIn(results: object): string[] {
  return Object.values(results).flatMap((result: unknown) => {
    if (Array.isArray(result)) return result.filter(isDelivery).map((row) => row.deliveryId);
    return typeof result === "object" && result !== null ? deliveriesIn(result) : [];
  });
}

function isDelivery(row: unknown): row is { deliveryId: string } {
  return typeof row === "object" && row !== null && "deliveryId" in row;
}

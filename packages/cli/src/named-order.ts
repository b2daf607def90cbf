import { inOrder, type Placed } from "./in-order.ts";
import { findRecord, type NamedKind, type NamedRecord } from "./names.ts";
import type { Session } from "./session.ts";

const PAGE = 100;
/** More than an order can have. */
const MAXIMUM = 1_000;

/**
 * All records of a list, by ID, with their names: first those that are named, in this order, then the others as they are.
 *
 * @throws CliError for a name that no record has.
 */
export async function orderByName(
  session: Session,
  kind: NamedKind,
  path: Record<string, string>,
  names: readonly string[],
): Promise<Map<string, string>> {
  type Row = NamedRecord & Placed & { id: string };
  const named = await Promise.all(names.map((name) => findRecord<Row>(session, kind, path, name)));
  const { rows } = await session.list<Row>(kind.listPath, {
    path,
    query: { limit: PAGE },
    limit: MAXIMUM,
  });
  return new Map([...named, ...inOrder(rows)].map(({ id, name }) => [id, name]));
}

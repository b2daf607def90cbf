import type { RecordOptions } from "./output.ts";
import type { CliContext, ReadOptions, Session } from "./session.ts";
import type { Column } from "./table.ts";

interface TimeList<Row> extends ReadOptions {
  /** For people, in the plural. */
  noun: string;
  listPath: string;
  columns: readonly Column<Row>[];
}

/** Prints the newest records of a list of what has happened. */
export async function printRecords<Row extends { id: string }>(
  { output }: CliContext,
  session: Session,
  options: RecordOptions & { limit: number },
  { noun, listPath, columns, ...where }: TimeList<Row>,
): Promise<void> {
  const { limit } = options;
  const { rows, hasMore } = await session.list<Row>(listPath, { ...where, limit });
  output.records(rows, columns, { ...options, id: ({ id }) => id });
  if (rows.length === 0 && !options.json) output.note(`There are no ${noun}.`);
  if (hasMore) output.note(`There are more than ${limit}: add --limit.`);
}

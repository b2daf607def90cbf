/** What D1 reports of a statement that has run. */
type Counts = Pick<D1Meta, "rows_read" | "rows_written">;

/** In units: one takes the time in which D1 reads a row (docs/capacity.md#units). */
export const UNITS = {
  rowRead: 1,
  /** The rows of indexes count, too. */
  rowWritten: 8,
  /** Of texts that a statement takes. They take 2 µs, but each may be stored, and space is scarce, too. */
  kilobyteSent: 100,
  /** Of texts that a statement returns: rows alone do not say how large they are. */
  kilobyteReturned: 3,
  /** Of a statement that failed. D1 does not report what it has cost. */
  failure: 1_000,
} as const;

export function unitsOf({ rows_read, rows_written }: Counts): number {
  return rows_read * UNITS.rowRead + rows_written * UNITS.rowWritten;
}

/** Of the parameters of a statement. */
export function unitsOfParameters(values: readonly unknown[]): number {
  let length = 0;
  for (const value of values) length += lengthOf(value);
  return Math.floor((length * UNITS.kilobyteSent) / 1_000);
}

export function unitsOfRows(rows: readonly unknown[]): number {
  let length = 0;
  for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
    // Without the list of its values, which takes more time than their lengths.
    for (const name in row) length += lengthOf(row[name]);
  }
  return Math.floor((length * UNITS.kilobyteReturned) / 1_000);
}

/** Of a text, in characters: to count bytes would take longer. */
function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}

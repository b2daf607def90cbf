/** What D1 reports of a statement that has run. */
type Counts = Pick<D1Meta, "rows_read" | "rows_written">;

/** In units: one takes the time in which D1 reads a row. Measured by `npm run bench -- units`. */
export const UNITS = {
  rowRead: 1,
  /** The rows of indexes count, too. */
  rowWritten: 8,
  /** Of a statement that failed. D1 does not report what it has cost. */
  failure: 1_000,
} as const;

export function unitsOf({ rows_read, rows_written }: Counts): number {
  return rows_read * UNITS.rowRead + rows_written * UNITS.rowWritten;
}

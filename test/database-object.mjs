import { DurableObject } from "cloudflare:workers";

const isEmpty = (sql) => sql.replace(/^\s+--.*/gm, "").trim() === "";

/** A blob is an array of numbers for the client of D1. */
const toBound = (value) => (Array.isArray(value) ? new Uint8Array(value).buffer : value);
const toReturned = (value) =>
  value instanceof ArrayBuffer ? Array.from(new Uint8Array(value)) : value;

/** Executes statements as Miniflare's object for a D1 database: see test/support/direct-databases.ts. */
export class Database extends DurableObject {
  /**
   * @param body The JSON of one statement, or of several.
   * @returns The JSON for the client of D1; a bookmark unless the statements failed.
   */
  async query(body, isRaw) {
    const { storage } = this.ctx;
    try {
      const statements = [JSON.parse(body)].flat().filter(({ sql }) => !isEmpty(sql));
      if (statements.length === 0) throw new Error("No SQL statements detected.");
      const text = JSON.stringify(storage.transactionSync(() => this.#execute(statements, isRaw)));
      return { text, bookmark: await storage.getCurrentBookmark() };
    } catch (error) {
      return { text: JSON.stringify({ success: false, error: error.message }) };
    }
  }

  #execute(statements, isRaw) {
    let before = this.#state();
    return statements.map(({ sql, params }) => {
      const cursor = this.ctx.storage.sql.exec(sql, ...(params ?? []).map(toBound));
      const columns = cursor.columnNames;
      const rows = Array.from(cursor.raw(), (row) => row.map(toReturned));
      const after = this.#state();
      const meta = {
        served_by: "miniflare.db",
        served_by_primary: true,
        total_attempts: 1,
        timings: { sql_duration_ms: 0 },
        duration: 0,
        changes: after.changes - before.changes,
        last_row_id: after.rowId,
        changed_db: Object.keys(after).some((name) => after[name] !== before[name]),
        size_after: after.size,
        rows_read: cursor.rowsRead,
        rows_written: cursor.rowsWritten,
      };
      before = after;
      const toObject = (row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]));
      return { success: true, results: isRaw ? { columns, rows } : rows.map(toObject), meta };
    });
  }

  #state() {
    const { sql } = this.ctx.storage;
    const { changes, rowId } = sql
      .exec("select total_changes() as changes, last_insert_rowid() as rowId")
      .one();
    return { changes, rowId, size: sql.databaseSize };
  }
}

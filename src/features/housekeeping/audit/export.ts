import type { Page } from "../../../db/keyset.ts";
import { encodeCursor, type Position } from "../../../lib/cursor.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { AuditEntryRow } from "./list-store.ts";
import { presentAuditEntry } from "./presenters.ts";

export interface ExportedPages {
  /** The position that the export continues from. */
  after: Position | undefined;
  first: Page<AuditEntryRow>;
  readNext(after: Position): Promise<Page<AuditEntryRow>>;
}

/**
 * The lines of an export, a page at a time. Only the last line has `end`, so that an export that broke
 * off is not mistaken for a complete one.
 */
export async function* exportLines({ after, first, readNext }: ExportedPages) {
  let last = after;
  let page = first;
  for (let records = page.rows.length; ; records += page.rows.length) {
    if (page.rows.length > 0) yield page.rows.map(toLine).join("");
    last = page.rows.at(-1) ?? last;
    const hasMore = page.next !== undefined;
    if (!hasMore || !last || records >= LIMITS.auditExportEntries.value) {
      yield toEndLine(hasMore, last);
      return;
    }
    page = await readNext(last);
  }
}

function toLine(row: AuditEntryRow): string {
  return `${JSON.stringify({ ...presentAuditEntry(row), cursor: encodeCursor("asc", row) })}\n`;
}

function toEndLine(hasMore: boolean, last: Position | undefined): string {
  const cursor = last && encodeCursor("asc", last);
  return `${JSON.stringify({ end: true, has_more: hasMore, cursor })}\n`;
}

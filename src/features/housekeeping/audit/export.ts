import type { Page } from "../../../db/keyset.ts";
import { decodeCursor, encodeCursor, type Position } from "../../../lib/cursor.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { AuditEntryRow } from "./list-store.ts";
import { presentAuditEntry } from "./presenters.ts";

/** Of full pages, fewer are enough. D1 permits 1,000 queries. */
const MAXIMUM_PAGES = 500;

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
  let records = 0;
  for (let pages = 1; ; pages += 1) {
    records += page.rows.length;
    if (page.rows.length > 0) yield page.rows.map(toLine).join("");
    const next = page.next === undefined ? undefined : decodeCursor("asc", page.next);
    last = next ?? page.rows.at(-1) ?? last;
    if (!next || records >= LIMITS.auditExportEntries.value || pages >= MAXIMUM_PAGES) {
      yield toEndLine(next !== undefined, last);
      return;
    }
    page = await readNext(next);
  }
}

function toLine(row: AuditEntryRow): string {
  return `${JSON.stringify({ ...presentAuditEntry(row), cursor: encodeCursor("asc", row) })}\n`;
}

function toEndLine(hasMore: boolean, last: Position | undefined): string {
  const cursor = last && encodeCursor("asc", last);
  return `${JSON.stringify({ end: true, has_more: hasMore, cursor })}\n`;
}

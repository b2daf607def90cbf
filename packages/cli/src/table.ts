import stringWidth from "string-width";
import { toPlainText } from "./plain-text.ts";

export interface Column<Row> {
  title: string;
  /** Absent values are shown as a dash. */
  value(row: Row): string | number | boolean | null | undefined;
}

const GAP = "  ";

/** Columns of text, with a line of titles. Cells have no control characters. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const titles = columns.map(({ title }) => title.toUpperCase());
  return renderColumns([titles, ...rows.map((row) => columns.map(({ value }) => value(row)))]);
}

/** Columns of text without titles. */
export function renderColumns(rows: readonly (readonly unknown[])[]): string {
  const lines = rows.map((row) => row.map(cell));
  const widths = lines[0]?.map((_, at) =>
    Math.max(...lines.map((line) => stringWidth(line[at] ?? ""))),
  );
  return lines
    .map((line) =>
      line
        .map((text, at) => pad(text, widths?.[at] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** A line for each field of one record. */
export function renderFields(fields: readonly (readonly [name: string, value: unknown])[]): string {
  const names = fields.map(([name]) => toPlainText(name));
  const width = Math.max(...names.map((name) => stringWidth(name)));
  return fields
    .map(([, value], at) => `${pad(names[at] ?? "", width)}${GAP}${cell(value)}`)
    .join("\n");
}

function cell(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-";
  return toPlainText(typeof value === "string" ? value : JSON.stringify(value));
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

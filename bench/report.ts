import type { Spread } from "./stats.ts";

/** A required bound and, optionally, a stricter target. */
export interface Goal {
  bound: "at most" | "at least";
  value: number;
  aim?: number;
}

export interface Row {
  what: string;
  /** A plain number has no rounds and no spread. */
  measured: Spread | number;
  goal?: Goal;
}

/** The result of a benchmark. Only rows with a goal can fail. */
export interface BenchmarkResult {
  title: string;
  rows: Row[];
}

const HEAD = ["", "median", "quartiles", "goal", "aim", ""];

/** A Markdown table, for the terminal and for docs/performance.md. */
export function toTable({ rows }: BenchmarkResult): string {
  return renderTable(HEAD, rows.map(toCells));
}

/** A Markdown table with aligned columns. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    toLine(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
  const rule = toLine(widths.map((width) => "-".repeat(width)));
  return [line(head), rule, ...rows.map(line)].join("\n");
}

export function isMet({ measured, goal }: Row): boolean {
  return (
    !goal || meets(typeof measured === "number" ? measured : measured.median, goal, goal.value)
  );
}

function toCells(row: Row): string[] {
  const { what, measured, goal } = row;
  const [median, quartiles] =
    typeof measured === "number"
      ? [digits(measured), ""]
      : [digits(measured.median), `${digits(measured.lower)} to ${digits(measured.upper)}`];
  return [
    what,
    median,
    quartiles,
    goal ? `${goal.bound} ${goal.value}` : "",
    goal?.aim === undefined ? "" : String(goal.aim),
    goal ? goalStatus(row, goal) : "",
  ];
}

function goalStatus(row: Row, goal: Goal): string {
  if (!isMet(row)) return "FAIL";
  const { measured } = row;
  const value = typeof measured === "number" ? measured : measured.median;
  return goal.aim !== undefined && meets(value, goal, goal.aim) ? "PASS, at the aim" : "PASS";
}

function meets(value: number, { bound }: Goal, limit: number): boolean {
  return bound === "at most" ? value <= limit : value >= limit;
}

/** Three significant digits, without an exponent. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

import type { Spread } from "./stats.ts";

/** A bound that has to be kept, and one to aim for. */
export interface Goal {
  bound: "at most" | "at least";
  value: number;
  aim?: number;
}

export interface Row {
  what: string;
  /** A plain number was not measured in rounds, and has no spread. */
  measured: Spread | number;
  goal?: Goal;
}

/** What a benchmark found. Rows with a goal decide; rows without tell the size of things. */
export interface Finding {
  title: string;
  rows: Row[];
}

const HEAD = ["", "median", "quartiles", "goal", "aim", ""];

/** The finding as a Markdown table, for the terminal and for docs/performance.md alike. */
export function toTable({ rows }: Finding): string {
  return layOut(HEAD, rows.map(toCells));
}

/** A Markdown table whose columns are as wide as their widest cells. */
export function layOut(head: readonly string[], rows: readonly (readonly string[])[]): string {
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
    !goal || keeps(typeof measured === "number" ? measured : measured.median, goal, goal.value)
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
    goal ? verdict(row, goal) : "",
  ];
}

function verdict(row: Row, goal: Goal): string {
  if (!isMet(row)) return "FAIL";
  const { measured } = row;
  const value = typeof measured === "number" ? measured : measured.median;
  return goal.aim !== undefined && keeps(value, goal, goal.aim) ? "PASS, at the aim" : "PASS";
}

function keeps(value: number, { bound }: Goal, limit: number): boolean {
  return bound === "at most" ? value <= limit : value >= limit;
}

/** Three significant digits, but never an exponent. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

import stringWidth from "string-width";
import { formatDuration } from "./duration.ts";
import type { StackStatus } from "./follow.ts";
import type { DeploymentStatus } from "./outcome.ts";

export interface FrameRow {
  name: string;
  status: DeploymentStatus | StackStatus;
  /** For how long it has been in progress. */
  elapsedMs?: number | undefined;
}

export interface FrameLine {
  text: string;
  status: FrameRow["status"];
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SYMBOLS = {
  succeeded: "✔",
  failed: "✘",
  canceled: "■",
  superseded: "■",
  skipped: "-",
  pending: "·",
  queued: "·",
} as const;
const SHORTEST_NAME = 8;
/** A symbol, the longest status, the time and the gaps. */
const OTHER_COLUMNS = 26;
/** A symbol, the gaps before and after the name, and the longest status. */
const STATUS_END = 15;
const ELLIPSIS = "…";

interface FrameSize {
  columns: number;
  rows: number;
  tick: number;
  /** Texts between the title and the stacks. */
  notes?: readonly string[];
}

/**
 * The lines of the live view, fewer than the terminal has, and none wider: what wraps or scrolls could not be
 * erased. Leaves out stacks that do not fit, those that have ended or not begun first, and ends of notes.
 */
export function renderFrame(
  title: FrameRow,
  stacks: readonly FrameRow[],
  { columns, rows, tick, notes = [] }: FrameSize,
): FrameLine[] {
  // The last column stays empty, because some terminals wrap after it.
  const width = Math.max(1, columns - 1);
  const height = Math.max(1, rows - 1);
  const noteWidth = Math.max(1, width - 2);
  // A stack, and how many more there are.
  const linesOfStacks = Math.min(stacks.length, 2);
  const noteLines = cut(
    notes.flatMap((note) => wrap(note, noteWidth)),
    { count: height - 1 - linesOfStacks, width: noteWidth },
  );
  const space = Math.max(1, height - 2 - noteLines.length);
  const shown = stacks.length <= space ? stacks : mostRelevant(stacks, space);
  const widthFor = (names: readonly FrameRow[]) => {
    const longest = Math.max(...names.map(({ name }) => stringWidth(name)), 0);
    return Math.max(SHORTEST_NAME, Math.min(longest, width - OTHER_COLUMNS));
  };
  const nameWidth = widthFor(shown);
  const indent = width < SHORTEST_NAME + OTHER_COLUMNS ? "" : "  ";
  const lines = [
    { text: cells(title, { nameWidth: widthFor([title]), width, tick }), status: title.status },
    ...noteLines.map((line) => ({ text: `  ${line}`, status: title.status })),
    ...shown.map((row) => ({
      text: indent + cells(row, { nameWidth, width: width - indent.length, tick }),
      status: row.status,
    })),
  ];
  const hidden = stacks.length - shown.length;
  if (hidden > 0) lines.push({ text: `${indent}${indent}and ${hidden} more`, status: "pending" });
  return lines.slice(0, height).map(({ text, status }) => ({ text: fit(text, width), status }));
}

/** The first lines. The last of them shows that there are more. */
function cut(
  lines: readonly string[],
  { count, width }: { count: number; width: number },
): string[] {
  if (lines.length <= count) return [...lines];
  const shown = lines.slice(0, Math.max(0, count));
  const last = shown.pop();
  return last === undefined ? [] : [...shown, fit(`${last}${ELLIPSIS}`, width)];
}

function mostRelevant(stacks: readonly FrameRow[], count: number): FrameRow[] {
  const rank = ({ status }: FrameRow) => ["in_progress", "failed", "pending"].indexOf(status);
  const ranked = stacks.toSorted((a, b) => ((rank(a) + 4) % 4) - ((rank(b) + 4) % 4));
  const chosen = new Set(ranked.slice(0, count));
  return stacks.filter((stack) => chosen.has(stack));
}

/** The time is left out where it does not fit. */
function cells(
  { name, status, elapsedMs }: FrameRow,
  { nameWidth, width, tick }: { nameWidth: number; width: number; tick: number },
): string {
  const isActive = status === "in_progress" || status === "canceling";
  const symbol = isActive ? SPINNER[tick % SPINNER.length] : SYMBOLS[status];
  const text = `${symbol} ${pad(fit(name, nameWidth), nameWidth)}  ${status}`;
  if (elapsedMs === undefined) return text;
  const time = formatDuration(Math.floor(elapsedMs / 1_000) * 1_000);
  const timed = `${pad(text, nameWidth + STATUS_END)}  ${time}`;
  return stringWidth(timed) <= width ? timed : text;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

/** At spaces. A word that is wider is cut when it is shown. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word;
    if (lines.length > 0 && stringWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Cuts a text that is wider. */
export function fit(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let cut = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(cut + segment) > width - 1) break;
    cut += segment;
  }
  return cut + ELLIPSIS;
}

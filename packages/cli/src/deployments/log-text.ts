import type { Schemas } from "../../../client/src/index.ts";
import { toPlainText } from "../plain-text.ts";
import { shorten, toShownLine } from "./terminal-line.ts";

/** Colours and weights: what a line of a log may change on a terminal, until its end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const COLOR = /(\x1b\[[0-9;:]{0,64}m)/;
const RESET = "\x1b[0m";
/** What is printed without the end of its line. */
const LONGEST_LINE = 65_536;
/** A line that overwrites itself is shortened beyond it, so that the work for a record is bounded. */
const LONGEST_HISTORY = 4_096;

/** A line that is safe to print. Colours are kept or left out, other escape sequences are shown. */
export function toSafeLine(text: string, { hasColors }: { hasColors: boolean }): string {
  const parts = text.split(COLOR);
  const safe = parts.map((part, at) => (at % 2 === 0 ? toPlainText(part) : hasColors ? part : ""));
  return safe.join("") + (hasColors && parts.length > 1 ? RESET : "");
}

export interface StackLine {
  stackId: string;
  /** Without the line break. */
  text: string;
}

/**
 * Joins the records of a log to lines, as a terminal shows them at their end. The records of two stacks may alternate
 * within their lines.
 */
export class LineJoiner {
  readonly #begun = new Map<string, string>();

  /** The lines that the record ends. */
  push({ stack_id: stackId, text }: Schemas["LogLine"]): StackLine[] {
    const joined = (this.#begun.get(stackId) ?? "") + text;
    const line = joined.length > LONGEST_HISTORY ? shorten(joined) : joined;
    const isWhole = line.endsWith("\n") || line.length >= LONGEST_LINE;
    if (!isWhole) {
      this.#begun.set(stackId, line);
      return [];
    }
    this.#begun.delete(stackId);
    return [{ stackId, text: toShownLine(line.replace(/\r?\n$/, "")) }];
  }

  /** The lines that have no end yet, as they are now. */
  get begun(): StackLine[] {
    return [...this.#begun].map(([stackId, text]) => ({ stackId, text: toShownLine(text) }));
  }

  /** The lines that have no end. */
  flush(): StackLine[] {
    const lines = this.begun;
    this.#begun.clear();
    return lines;
  }
}

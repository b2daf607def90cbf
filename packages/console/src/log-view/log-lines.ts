import type { Schemas } from "../api.ts";
import { PLAIN, parseAnsi, type Style, toPlainLine } from "./ansi.ts";

export interface LogLine {
  /** From 1. */
  number: number;
  stackId: string;
  time: string;
  text: string;
  /** What a search finds, in lower case. */
  searched: string;
  /** The style that earlier lines of the stack have set. */
  style: Style;
  isError: boolean;
}

const ERROR = /\b(?:error|errors|failed|failure|fatal|panic|exception)\b/;
const ESCAPE = "\u001b";

/** The lines of a log, in their order. */
export class LogLines {
  readonly all: LogLine[] = [];
  readonly #styles = new Map<string, Style>();
  #offset = -1;

  /** Ignores a line that it has: a stream that reconnects may repeat one. */
  add({ offset, time, stack_id: stackId, text }: Schemas["LogLine"]): void {
    if (offset <= this.#offset) return;
    this.#offset = offset;
    const style = this.#styles.get(stackId) ?? PLAIN;
    if (text.includes(ESCAPE)) this.#styles.set(stackId, parseAnsi(text, style).end);
    const searched = toPlainLine(text).toLowerCase();
    const isError = ERROR.test(searched);
    this.all.push({ number: this.all.length + 1, stackId, time, text, searched, style, isError });
  }
}

export function linesOfStack(lines: readonly LogLine[], stackId: string): readonly LogLine[] {
  return stackId === "" ? lines : lines.filter((line) => line.stackId === stackId);
}

/** Those with the text, without regard to letter case. */
export function findLines(lines: readonly LogLine[], text: string): readonly LogLine[] {
  const searched = text.toLowerCase();
  return searched === "" ? [] : lines.filter((line) => line.searched.includes(searched));
}

/** The next or the previous of some lines after the current one. Begins again at the other end. */
export function step(
  lines: readonly LogLine[],
  current: number,
  direction: "next" | "previous",
): LogLine | undefined {
  if (direction === "next") return lines.find(({ number }) => number > current) ?? lines[0];
  return lines.findLast(({ number }) => number < current) ?? lines.at(-1);
}

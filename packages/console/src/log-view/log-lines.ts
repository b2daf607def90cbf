import type { Schemas } from "../../../client/src/index.ts";
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

/** Not "0 failed" or "no errors". */
const ERROR = /(?<!\b(?:0|no) )\b(?:error|errors|failed|failure|fatal|panic|exception)\b/;
const ESCAPE = "\u001b";
/** A line that goes on is continued as another one, so that the work for a record is bounded. */
const LONGEST_LINE = 1_048_576;

/** The lines of a log, in their order. A record without a line break is continued by the stack's next one. */
export class LogLines {
  readonly all: LogLine[] = [];
  /** The lines without an end, by their stacks. */
  readonly #open = new Map<string, LogLine>();
  readonly #styles = new Map<string, Style>();
  #offset = -1;

  /** Ignores a record that it has: a stream that reconnects may repeat one. */
  add({ offset, time, stack_id: stackId, text }: Schemas["LogLine"]): void {
    if (offset <= this.#offset) return;
    this.#offset = offset;
    const begun = this.#open.get(stackId);
    const line: LogLine = {
      number: begun?.number ?? this.all.length + 1,
      stackId,
      time: begun?.time ?? time,
      style: begun?.style ?? this.#styles.get(stackId) ?? PLAIN,
      ...contentOf((begun?.text ?? "") + text.replace(/\r?\n$/, "")),
    };
    this.all[line.number - 1] = line;
    const isWhole = text.endsWith("\n") || line.text.length >= LONGEST_LINE;
    if (isWhole) this.#end(line);
    else this.#open.set(stackId, line);
  }

  #end({ stackId, text, style }: LogLine): void {
    this.#open.delete(stackId);
    if (text.includes(ESCAPE)) this.#styles.set(stackId, parseAnsi(text, style).end);
  }
}

function contentOf(text: string): Pick<LogLine, "text" | "searched" | "isError"> {
  const searched = toPlainLine(text).toLowerCase();
  return { text, searched, isError: ERROR.test(searched) };
}

export function linesOfStack(lines: readonly LogLine[], stackId: string): readonly LogLine[] {
  return stackId === "" ? lines : lines.filter((line) => line.stackId === stackId);
}

/**
 * Where a person looks first after a failure: the first error of a stack that failed. If the whole log has none, the first
 * error of another stack, or else the last line.
 */
export function findFailure(
  lines: readonly LogLine[],
  failedStackIds: readonly string[],
  hasEnded: boolean,
): LogLine | undefined {
  const isOfFailed = ({ stackId }: LogLine) => failedStackIds.includes(stackId);
  const own = lines.find((line) => line.isError && isOfFailed(line));
  if (own || !hasEnded) return own;
  return lines.find(({ isError }) => isError) ?? lines.findLast(isOfFailed) ?? lines.at(-1);
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

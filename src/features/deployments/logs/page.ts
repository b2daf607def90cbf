import { LIMITS } from "../../../lib/limits.ts";
import { type LogLine, splitLines } from "./lines.ts";
import type { LogContent } from "./messages.ts";
import type { LogStatus } from "./model.ts";

const MAXIMUM_BYTES = LIMITS.logLineBytes.value;
const MAXIMUM_LINES = LIMITS.logPageLines.value;

export interface LinePage {
  lines: LogLine[];
  /** Where the next page continues. */
  nextOffset: number;
  hasMore: boolean;
}

export interface LogPage extends LinePage {
  status: LogStatus;
  /** Whether bytes are missing for good. */
  isTruncated: boolean;
}

/** The lines of what was read. The last one is whole, unless it is the only one or the log ends there. */
export function toLinePage({ log, chunks, nextOffset }: LogContent): LinePage {
  const last = chunks.at(-1);
  const end = last ? last.offset + last.bytes.length : nextOffset;
  const isWholeLog = nextOffset === (log?.size ?? nextOffset);
  // Bytes of another stack follow those that end before the read does.
  const isLastEnd = end < nextOffset;
  const isComplete = isLastEnd || (isWholeLog && log?.isSealed !== false);
  const all = [...splitLines(chunks, { maximumBytes: MAXIMUM_BYTES, isComplete })];
  const isCutOff =
    !isWholeLog && !isLastEnd && all.length > 1 && all.at(-1)?.text.endsWith("\n") === false;
  const lines = all.slice(0, Math.min(MAXIMUM_LINES, all.length - (isCutOff ? 1 : 0)));
  const shownEnd = lines.at(-1)?.nextOffset ?? chunks[0]?.offset ?? nextOffset;
  return {
    lines,
    nextOffset: shownEnd < end ? shownEnd : nextOffset,
    hasMore: !isWholeLog || lines.length < all.length,
  };
}

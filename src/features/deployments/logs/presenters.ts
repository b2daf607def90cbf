import { toTimestamp } from "../../../lib/clock.ts";
import type { LogEvent } from "./follow.ts";
import type { LogLine } from "./lines.ts";
import type { LogPage } from "./page.ts";
import type { Run } from "./run.ts";

/** How long a client waits before it continues. */
const RETRY_MS = 1_000;

function presentLine({ offset, time, stackId, text }: LogLine) {
  return { offset, time: toTimestamp(time), stack_id: stackId, text };
}

function toWireRun({ status, stacks }: Run) {
  return { status, stacks };
}

export function presentLogPage({ lines, hasMore, nextOffset, status, isTruncated }: LogPage) {
  return {
    data: lines.map(presentLine),
    has_more: hasMore,
    ...(hasMore && { next_page: String(nextOffset) }),
    next_offset: nextOffset,
    status,
    truncated: isTruncated,
  };
}

/** As text (HTML standard, "Server-sent events"). */
export function presentEvent(event: LogEvent): string {
  switch (event.kind) {
    case "start":
      return `retry: ${RETRY_MS}\n\n`;
    case "lines":
      return event.lines.map(presentLineEvent).join("");
    case "status":
      return presentNamedEvent("status", toWireRun(event.run));
    case "idle":
      return ":\n\n";
    case "end":
      return presentNamedEvent("end", { status: event.status, truncated: event.isTruncated });
  }
}

function presentLineEvent(line: LogLine): string {
  return `id: ${line.nextOffset}\ndata: ${JSON.stringify(presentLine(line))}\n\n`;
}

function presentNamedEvent(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

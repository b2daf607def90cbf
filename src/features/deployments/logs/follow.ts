import { LIMITS } from "../../../lib/limits.ts";
import { type DeploymentStatus, hasEnded } from "../deployments/index.ts";
import type { LogLine } from "./lines.ts";
import type { LogContent, LogNotification } from "./messages.ts";
import { toLinePage } from "./page.ts";
import { logStatusOf, type Run } from "./run.ts";

const KEEP_ALIVE_MS = 15_000;
export const CHECK_EVERY_MS = 30_000;

export type LogEvent =
  | { kind: "start" }
  | { kind: "lines"; lines: readonly LogLine[] }
  /** The deployment or one of its stacks has another status. */
  | { kind: "status"; run: Run }
  /** Nothing has changed: keeps the connection, and shows whether the client is there. */
  | { kind: "idle" }
  /** Everything is sent. */
  | { kind: "end"; status: DeploymentStatus; isTruncated: boolean };

export interface FollowedLog {
  /** The offset of the first byte to send. */
  after: number;
  connection: {
    readonly latest: LogNotification;
    readonly isClosed: boolean;
    waitForChange(maximumMs: number): Promise<void>;
  };
  read(after: number): Promise<LogContent>;
  /** Whether the reader may still read the log. */
  isAuthorized(): Promise<boolean>;
  now(): number;
}

/**
 * Ends without `end` after a while, when the reader is no longer authorized, and when the connection is
 * lost: the client continues with a new request.
 */
export async function* followLog(followed: FollowedLog): AsyncGenerator<LogEvent> {
  const { connection, now } = followed;
  const endsAt = now() + LIMITS.logStreamMs.value;
  let checkAt = now() + CHECK_EVERY_MS;
  let position = followed.after;
  /** The log when all was read, except for the beginning of a character at its end. */
  let readState = "";
  let shown = "";
  yield { kind: "start" };
  while (now() < endsAt) {
    if (now() >= checkAt) {
      if (!(await followed.isAuthorized())) return;
      checkAt = now() + CHECK_EVERY_MS;
    }
    const { log, run } = connection.latest;
    if (!run) return;
    const state = JSON.stringify(log);
    const shownNext = JSON.stringify([run.status, run.stacks]);
    if (shownNext !== shown) {
      shown = shownNext;
      yield { kind: "status", run };
    } else if (position < (log?.size ?? 0) && state !== readState) {
      const page = toLinePage(await followed.read(position));
      if (!page.hasMore || page.nextOffset === position) readState = state;
      position = page.nextOffset;
      if (page.lines.length > 0) yield { kind: "lines", lines: page.lines };
    } else if (isOver(run, log)) {
      yield { kind: "end", status: run.status, isTruncated: log?.isTruncated === true };
      return;
    } else if (connection.isClosed) {
      return;
    } else {
      const before = connection.latest;
      await connection.waitForChange(Math.min(KEEP_ALIVE_MS, Math.min(endsAt, checkAt) - now()));
      if (connection.latest === before) yield { kind: "idle" };
    }
  }
}

function isOver(run: Run, log: LogNotification["log"]): boolean {
  const status = logStatusOf(run, log);
  return hasEnded(run.status) && (status === "sealed" || status === "none");
}

import { setTimeout as sleep } from "node:timers/promises";
import {
  ApiError,
  type Client,
  type LogEvent,
  LongshoreError,
  type Schemas,
} from "../../../client/src/index.ts";

const LOGS = "/v1/deployments/{deployment_id}/logs";
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

export interface LogStreamOptions {
  deploymentId: string;
  /** Only this stack. */
  stackId?: string | undefined;
  signal: AbortSignal;
  onLine(line: Schemas["LogLine"]): void;
  onStatus(status: Extract<LogEvent, { event: "status" }>["data"]): void;
  /** The stream is lost for now. */
  onLost(): void;
}

/**
 * Reads a log to its end, over as many streams as needed. Each line is delivered once, in order. Returns
 * whether the log has been read to its end: not if the service has none, or refuses it.
 */
export async function readLogStream(client: Client, options: LogStreamOptions): Promise<boolean> {
  const { deploymentId, stackId, signal } = options;
  const path = { deployment_id: deploymentId };
  let position = 0;
  for (let failures = 0; ; failures++) {
    const query = {
      ...(position > 0 && { after: position }),
      ...(stackId !== undefined && { stack_id: stackId }),
    };
    const stream = client.stream(LOGS, { path, query, signal });
    try {
      for (;;) {
        const next = await stream.next().catch(toFailure);
        if (next instanceof Error) {
          if (isPermanent(next)) return false;
          break;
        }
        if (next.done || next.value.event === "end") return true;
        failures = 0;
        position = deliver(next.value, position, options);
      }
    } finally {
      // Closes the connection if a callback has thrown.
      await stream.return();
    }
    signal.throwIfAborted();
    options.onLost();
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
    await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal });
  }
}

/** Returns where the log continues. */
function deliver(
  event: Exclude<LogEvent, { event: "end" }>,
  position: number,
  { onLine, onStatus }: LogStreamOptions,
): number {
  if (event.event === "status") onStatus(event.data);
  if (event.event !== "line" || event.data.offset < position) return position;
  onLine(event.data);
  return Number(event.id);
}

/** A stream that a proxy has garbled is lost as well. Any other error is one of this program. */
function toFailure(error: unknown): Error {
  if (error instanceof LongshoreError || error instanceof SyntaxError) return error;
  throw error;
}

/** Whether a repeat of the request would be refused as well. A page that is not Longshore's is a proxy's. */
export function isPermanent(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code === "unexpected_response") return false;
  const isTransient = error.status === 408 || error.status === 429 || error.status >= 500;
  return !isTransient || error.status === 501;
}

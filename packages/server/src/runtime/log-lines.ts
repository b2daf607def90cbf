import type { RuntimeLine } from "./runtime.ts";

/** What the Worker logs: `src/lib/log.ts`. */
export interface WorkerEvent {
  event: string;
  level: string;
  fields: Readonly<Record<string, unknown>>;
}

/** Undefined: a line of the runtime itself, or of a dependency. */
export function parseEvent({ level, message }: RuntimeLine): WorkerEvent | undefined {
  if (!message.startsWith("{")) return undefined;
  try {
    const { event, ...fields } = JSON.parse(message) as Record<string, unknown>;
    return typeof event === "string" ? { event, level, fields } : undefined;
  } catch {
    return undefined;
  }
}

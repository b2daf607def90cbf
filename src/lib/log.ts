/** Structured logging: one event a line, as JSON, which Workers Logs indexes by field. */
export type Log = (level: "info" | "error", event: string, fields: Record<string, unknown>) => void;

export const consoleLog: Log = (level, event, fields) => {
  console[level](JSON.stringify({ event, ...fields }));
};

const FRAMES = 8;

/**
 * What a log may hold of an unknown error: its chain of causes, and where each was thrown. The
 * message of an error that wraps another is left out, because Drizzle's holds the bound parameters.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const stack = frames.slice(0, FRAMES).map((line) => line.trim());
  return error.cause instanceof Error
    ? { error: error.name, cause: describeError(error.cause), stack }
    : { error: error.name, message: error.message, stack };
}

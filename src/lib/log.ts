/** Structured logging: one event a line, as JSON, which Workers Logs indexes by field. */
export type Log = (level: "info" | "error", event: string, fields: Record<string, unknown>) => void;

export const consoleLog: Log = (level, event, fields) => {
  console[level](JSON.stringify({ event, ...fields }));
};

const FRAMES = 8;

/**
 * What a log may hold of an unknown error: its chain of causes, and where each was thrown. The
 * message of an error that wraps something is left out, because Drizzle's holds the bound
 * parameters; and so is its copy at the head of the stack.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack = "" } = error;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  const place = { error: name, stack: frames.slice(1, FRAMES + 1).map((frame) => frame.trim()) };
  if ("cause" in error) return { ...place, cause: describeError(error.cause) };
  return { ...place, message };
}

/** Structured logging: one event a line, as JSON, which Workers Logs indexes by field. */
export type Log = (level: "info" | "error", event: string, fields: Record<string, unknown>) => void;

export const consoleLog: Log = (level, event, fields) => {
  console[level](JSON.stringify({ event, ...fields }));
};

const FRAMES = 8;
const MAXIMUM_DEPTH = 8;
/** Frames of the runtime, which are the same for every failed statement. */
const RUNTIME_FRAME = /\b(cloudflare|node)(-internal)?:/;

/**
 * What a log may hold of an unknown error: the message of its root cause, and where the outermost
 * error was thrown. The message of an error that wraps another is left out, because Drizzle's holds
 * the bound parameters; and so is its copy at the head of the stack.
 */
export function describeError(error: unknown): Record<string, unknown> {
  const chain = causesOf(error);
  const root = chain.at(-1);
  if (!(root instanceof Error)) return { message: String(root), ...stackOf(error) };
  if ("cause" in root) return { message: "Too many causes.", ...stackOf(error) };
  // Most classes have the name of `Error`, and a bundler shortens those of constructors.
  const isNamed = root.name !== "Error";
  const message = withoutValue(prefixOf(chain.at(-2), root) + root.message);
  return { message, ...(isNamed && { error: root.name }), ...stackOf(error) };
}

/** An error and its causes, the root cause last. */
function causesOf(error: unknown): unknown[] {
  const chain = [error];
  for (let last = error; last instanceof Error && "cause" in last; chain.push(last)) {
    if (chain.length >= MAXIMUM_DEPTH) break;
    last = last.cause;
  }
  return chain;
}

/** D1 wraps its errors in others that add only a prefix: `D1_ERROR: `. It says where to look. */
function prefixOf(wrapper: unknown, { message }: Error): string {
  if (!(wrapper instanceof Error) || !wrapper.message.endsWith(message)) return "";
  const prefix = wrapper.message.slice(0, wrapper.message.length - message.length);
  return /^D1_[A-Z_]+: $/.test(prefix) ? prefix : "";
}

/** `D1_TYPE_ERROR` quotes the parameter that it refuses. */
function withoutValue(message: string): string {
  return message.replace(/(not supported for value) .*/s, "$1");
}

function stackOf(error: unknown): { stack?: string[] } {
  if (!(error instanceof Error)) return {};
  const { message, stack = "" } = error;
  const start = stack.indexOf(message);
  if (start < 0) return {};
  const frames = stack
    .slice(start + message.length)
    .split("\n")
    .slice(1);
  const useful = frames.filter((frame) => !RUNTIME_FRAME.test(frame));
  return { stack: useful.slice(0, FRAMES).map((frame) => frame.trim()) };
}

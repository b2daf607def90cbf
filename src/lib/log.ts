/** One line of JSON for each event: Workers Logs indexes the fields. */
export type Log = (level: "info" | "error", event: string, fields: Record<string, unknown>) => void;

export const consoleLog: Log = (level, event, fields) => {
  console[level](JSON.stringify({ event, ...fields }));
};

const MAXIMUM_FRAMES = 8;
const MAXIMUM_CAUSES = 8;
/** Frames of the runtime. Left out, because all failed statements have the same ones. */
const RUNTIME_FRAME = /\b(cloudflare|node)(-internal)?:/;

/**
 * The loggable fields of an unknown error: the message of its root cause, and the stack of the
 * outermost error. Leaves out the messages of errors that have a cause, also at the start of the
 * stack, because Drizzle's contains the bound parameters.
 */
export function describeError(error: unknown): Record<string, unknown> {
  const chain = causesOf(error);
  const root = chain.at(-1);
  if (!(root instanceof Error)) return { message: String(root), ...stackOf(error) };
  if ("cause" in root) return { message: "Too many causes.", ...stackOf(error) };
  // Most classes inherit the name "Error". A bundler shortens the names of constructors.
  const isNamed = root.name !== "Error";
  const message = withoutValue(prefixOf(chain.at(-2), root) + root.message);
  return { message, ...(isNamed && { error: root.name }), ...stackOf(error) };
}

function causesOf(error: unknown): unknown[] {
  const chain = [error];
  for (let last = error; last instanceof Error && "cause" in last; chain.push(last)) {
    if (chain.length >= MAXIMUM_CAUSES) break;
    last = last.cause;
  }
  return chain;
}

/** The prefix that D1's wrapper adds to the message of its cause, such as `D1_ERROR: `. */
function prefixOf(wrapper: unknown, { message }: Error): string {
  if (!(wrapper instanceof Error) || !wrapper.message.endsWith(message)) return "";
  const prefix = wrapper.message.slice(0, wrapper.message.length - message.length);
  return /^D1_[A-Z_]+: $/.test(prefix) ? prefix : "";
}

/** A `D1_TYPE_ERROR` quotes the parameter, which can be a secret. */
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
  return { stack: useful.slice(0, MAXIMUM_FRAMES).map((frame) => frame.trim()) };
}

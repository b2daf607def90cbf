import type { Source } from "../api-types.ts";
import type { StackInput } from "../stack-input.ts";
import { quote } from "./quote.ts";
import { isKnown, OUTPUTS_PREFIX, PART, splitOutput } from "./references.ts";

/** The values of references. */
export interface ReferenceValues
  extends Pick<StackInput, "environment" | "stack" | "stacks" | "needed_stacks"> {
  source: Source | undefined;
  variables: readonly { name: string; value: string }[];
}

/** Why a text cannot be used. It has no values, because they may be secret. */
export class TextError extends Error {}

/**
 * Replaces the references of a text, in one pass: what a value contains is never a reference. The length
 * is checked on the way, because a short text can name a long value often.
 */
export function interpolate(text: string, values: ReferenceValues, maximumBytes: number): string {
  const parts: string[] = [];
  let bytes = 0;
  const add = (part: string) => {
    bytes += new TextEncoder().encode(part).length;
    if (bytes > maximumBytes) {
      throw new TextError(describeTooLong(maximumBytes));
    }
    parts.push(part);
  };
  let from = 0;
  for (const { 0: written, 1: name, 2: end, index } of text.matchAll(PART)) {
    add(text.slice(from, index));
    if (name === undefined) add("${");
    else add(resolve(isKnown(name, end) ? name : "", written, values));
    from = index + written.length;
  }
  add(text.slice(from));
  return parts.join("");
}

export function describeTooLong(maximumBytes: number): string {
  return `has more than ${maximumBytes.toLocaleString("en-US")} bytes. Shorten it.`;
}

function resolve(name: string, written: string, values: ReferenceValues): string {
  const value = findValue(name, values);
  if (value !== undefined) return value;
  throw new TextError(`refers to ${quote(written)}, which has no value in this deployment.`);
}

/** The value of a reference without its `${` and `}`. Undefined: it has none. */
export function findValue(
  name: string,
  { source, ...values }: ReferenceValues,
): string | undefined {
  if (name === "environment.name") return values.environment.name;
  if (name === "stack.name") return values.stack.name;
  const rest = name.slice(name.indexOf(".") + 1);
  if (name.startsWith("source.")) return findInSource(rest, source);
  if (name.startsWith("variables.")) {
    return values.variables.find((each) => each.name === rest)?.value;
  }
  return name.startsWith(OUTPUTS_PREFIX) ? findOutput(rest, values) : undefined;
}

function findOutput(
  path: string,
  { stacks, needed_stacks: needed = [] }: Pick<ReferenceValues, "stacks" | "needed_stacks">,
): string | undefined {
  const outputs = new Map(
    [...needed, ...stacks].map((each) => [each.name.normalize(), each.outputs]),
  );
  const found = splitOutput(path, new Set(outputs.keys()));
  const values = found && outputs.get(found.stack);
  return values && Object.hasOwn(values, found.output) ? values[found.output] : undefined;
}

/** A path of the source, or a short name for what most deployments have. */
function findInSource(path: string, source: Source | undefined): string | undefined {
  if (path === "image") return source?.registry?.image;
  if (path === "commit") return source?.git?.commit?.sha;
  const found = path.split(".").reduce<unknown>(readMember, source);
  return typeof found === "string" ? found : undefined;
}

function readMember(value: unknown, name: string): unknown {
  const isReadable = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isReadable ? (value as Record<string, unknown>)[name] : undefined;
}

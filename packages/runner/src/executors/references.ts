/** What a setting may refer to. */
export const REFERENCES = [
  "source.*",
  "environment.name",
  "stack.name",
  "variables.NAME",
  "outputs.STACK.NAME",
].map((each) => `\${${each}}`);

/** `$${` is written for `${`. A reference without its end has no second group. */
export const PART = /\$\$\{|\$\{([^}]*)(\})?/g;
const KNOWN = /^(source\..+|environment\.name|stack\.name|variables\..+|outputs\..+\..+)$/s;

/** The references that no deployment has, as they are written. */
export function findUnknownReferences(text: string): string[] {
  return [...text.matchAll(PART)].flatMap(([written, name, end]) =>
    name === undefined || isKnown(name, end) ? [] : [written],
  );
}

export function isKnown(name: string, end: string | undefined): boolean {
  return end !== undefined && !name.includes("${") && KNOWN.test(name);
}

export const OUTPUTS_PREFIX = "outputs.";
/** A stack's name has at most 128 characters, of up to two code units each, and an output's name 100. */
const MAXIMUM_PATH_LENGTH = 2 * 128 + 1 + 100;

/**
 * Divides `STACK.NAME`, as a reference to an output has it. Both may have dots: the stack with the longest name counts.
 * @param stacks The names of all stacks, in NFC. The name of an output is ASCII.
 */
export function splitOutput(
  path: string,
  stacks: ReadonlySet<string>,
): { stack: string; output: string } | undefined {
  const text = path.normalize();
  if (text.length > MAXIMUM_PATH_LENGTH) return undefined;
  for (let dot = text.lastIndexOf("."); dot > 0; dot = text.lastIndexOf(".", dot - 1)) {
    const stack = text.slice(0, dot);
    if (stacks.has(stack)) return { stack, output: text.slice(dot + 1) };
  }
  return undefined;
}

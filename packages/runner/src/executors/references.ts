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

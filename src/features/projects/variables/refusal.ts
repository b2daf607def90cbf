import {
  INHERITED_NAMES,
  INHERITED_ON_WINDOWS,
  REFUSED_NAMES,
  type RefusedNames,
  toPattern,
} from "../../../lib/refused-variables.ts";

const INHERITED: RefusedNames = { names: [...INHERITED_NAMES, ...INHERITED_ON_WINDOWS] };

const PATTERNS = [...REFUSED_NAMES, INHERITED].map(({ class: name, names, anyCase = false }) => ({
  class: name,
  pattern: toPattern(names, anyCase),
}));

/** Undefined unless the reference runner refuses the name. Says how its operator allows it. */
export function warningOf(name: string): string | undefined {
  const refusing = PATTERNS.filter(({ pattern }) => pattern.test(name));
  if (refusing.length === 0) return undefined;
  const classes = refusing.map((each) => each.class);
  const options = classes.includes(undefined)
    ? `--allow-variable ${name}`
    : classes.map((each) => `--allow-variables ${each}`).join(" ");
  const named = classes.filter(Boolean).join(", ") || "its own";
  return (
    `The reference runner refuses this name (${named}), and a deployment with --exec or a script fails, ` +
    `unless it is started with ${options}.`
  );
}

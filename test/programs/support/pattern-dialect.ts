import { type AST, visitRegExpAST } from "@eslint-community/regexpp";
import { parsePattern } from "./pattern-shape.ts";

/** RE2 repeats at most so often. */
const MOST_REPEATS = 1_000;
/** A character as its code in two hex digits, or punctuation. Other escapes mean something else somewhere, or nothing. */
const COMMON_ESCAPE = /^\\(?:x[0-9A-Fa-f]{2}|[^A-Za-z0-9])$/;

/**
 * What ECMAScript without flags, Python's `re`, RE2 (Go) and `java.util.regex` do not all accept, or read in different
 * ways. Each has a pattern with it.
 */
export const REFUSED_CONSTRUCTS: Record<string, string> = {
  "a delimiter or a flag": "/^[a-z]+$/u",
  "a character that is not printable ASCII": "^[\uFEFF]$",
  "an assertion other than ^ and $": "^a(?!b)$",
  "a reference to a group": String.raw`^(a)\1$`,
  "a name or a flag of a group": "^(?<name>a)$",
  "an escape that not all know": String.raw`^\p{Z}$`,
  "a bracket or a brace that is not escaped": "^a{b}$",
  "an operator or a bracket in a class": "^[a-z&&[^b]]$",
  "an empty class": "^[]$",
  "too many repeats": `^a{${MOST_REPEATS + 1}}$`,
};

/** The constructs of the table that the pattern has. */
export function findRefusedConstructs(source: string): string[] {
  const found = new Set<keyof typeof REFUSED_CONSTRUCTS>();
  if (!/^\^.*\$$/.test(source)) found.add("a delimiter or a flag");
  if (!/^[ -~]*$/.test(source)) found.add("a character that is not printable ASCII");
  visitRegExpAST(parsePattern({ origin: "", source, flags: "" }), {
    onAssertionEnter: ({ kind }) => {
      if (kind !== "start" && kind !== "end") found.add("an assertion other than ^ and $");
    },
    onBackreferenceEnter: () => void found.add("a reference to a group"),
    onCapturingGroupEnter: ({ name }) => {
      if (name !== null) found.add("a name or a flag of a group");
    },
    onGroupEnter: ({ modifiers }) => {
      if (modifiers) found.add("a name or a flag of a group");
    },
    onCharacterEnter: ({ raw, parent }) => {
      if (raw.length > 1 && !COMMON_ESCAPE.test(raw)) found.add("an escape that not all know");
      if (parent.type === "Alternative" || parent.type === "Quantifier") {
        if (/^[[\]{}]$/.test(raw)) found.add("a bracket or a brace that is not escaped");
      }
    },
    onCharacterClassEnter: (each) => {
      if (each.elements.length === 0) found.add("an empty class");
      if (hasOperator(each)) found.add("an operator or a bracket in a class");
    },
    onQuantifierEnter: ({ min, max }) => {
      const most = max === Number.POSITIVE_INFINITY ? min : max;
      if (most > MOST_REPEATS) found.add("too many repeats");
    },
  });
  return [...found];
}

/** Java joins and intersects classes in a class, and Python reserves the doubled signs for that. */
function hasOperator({ raw }: AST.CharacterClass): boolean {
  const inner = raw.slice(1, -1).replaceAll(/\\./g, "");
  return inner.includes("[") || /&&|--|~~|\|\|/.test(inner);
}

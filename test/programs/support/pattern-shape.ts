import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import type { Pattern } from "./patterns.ts";

const parser = new RegExpParser();

export function parsePattern({ source, flags }: Pattern): AST.Pattern {
  const modes = { unicode: flags.includes("u"), unicodeSets: flags.includes("v") };
  return parser.parsePattern(source, 0, source.length, modes);
}

export function alternativesOf(node: AST.Pattern | AST.Element): readonly AST.Alternative[] {
  return node.type !== "CharacterClass" && "alternatives" in node ? node.alternatives : [];
}

/** How many repetitions without a maximum are within one another. */
export function starHeight(pattern: Pattern): number {
  return heightOf(parsePattern(pattern));
}

function heightOf(node: AST.Pattern | AST.Element): number {
  if (node.type === "Quantifier")
    return heightOf(node.element) + (node.max === Number.POSITIVE_INFINITY ? 1 : 0);
  const elements = alternativesOf(node).flatMap((each) => each.elements);
  return Math.max(0, ...elements.map(heightOf));
}

/** Every character that the pattern names, also as an end of a range. */
export function literalCharacters(pattern: Pattern): string[] {
  const found = new Set<string>();
  visitRegExpAST(parsePattern(pattern), {
    onCharacterEnter: ({ value }) => void found.add(String.fromCodePoint(value)),
  });
  return [...found];
}

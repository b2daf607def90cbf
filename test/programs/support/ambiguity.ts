import type { AST } from "@eslint-community/regexpp";
import { alternativesOf, parsePattern } from "./pattern-shape.ts";
import type { Pattern } from "./patterns.ts";

/** A character or class of the pattern, with those that can match the next character: twice if in two ways. */
interface Position {
  characters: readonly number[];
  next: Position[];
}

/** Where a part of the pattern can begin and end. */
interface Part {
  first: readonly Position[];
  last: readonly Position[];
  canBeEmpty: boolean;
}

const EMPTY: Part = { first: [], last: [], canBeEmpty: true };
/** Code units that stand for the others of their classes. */
const CODES = [...Array.from({ length: 0x180 }, (_, code) => code), 0x2028, 0x3042, 0xd800, 0xfeff];

/**
 * Whether a repetition can match the same text in two ways, so that a text that does not match takes exponential time.
 * These are the two cycles on one text of Weber and Seidl (1991), in the automaton of Glushkov.
 */
export function isAmbiguous(pattern: Pattern): boolean {
  const positions = new Automaton(pattern).positions;
  return positions.some((each) => hasTwoCycles(each));
}

class Automaton {
  readonly positions: Position[] = [];
  readonly #flags: string;

  constructor(pattern: Pattern) {
    this.#flags = pattern.flags.replaceAll(/[gy]/g, "");
    this.#join(parsePattern(pattern));
  }

  #join(node: AST.Pattern | AST.Element): Part {
    const parts = alternativesOf(node).map((each) => this.#sequence(each.elements));
    return {
      first: parts.flatMap((each) => each.first),
      last: parts.flatMap((each) => each.last),
      canBeEmpty: parts.some((each) => each.canBeEmpty),
    };
  }

  #sequence(elements: readonly AST.Element[]): Part {
    return elements
      .map((each) => this.#element(each))
      .reduce((before, after) => {
        link(before, after);
        return {
          first: before.canBeEmpty ? [...before.first, ...after.first] : before.first,
          last: after.canBeEmpty ? [...before.last, ...after.last] : after.last,
          canBeEmpty: before.canBeEmpty && after.canBeEmpty,
        };
      }, EMPTY);
  }

  #element(element: AST.Element): Part {
    if (element.type === "Quantifier") {
      const part = this.#element(element.element);
      // A fixed number of turns is one way.
      if (element.max > 1 && element.max !== element.min) link(part, part);
      return { ...part, canBeEmpty: part.canBeEmpty || element.min === 0 };
    }
    if (element.type === "Assertion") {
      // A lookaround has repetitions of its own, before which and after which nothing is matched.
      if (element.kind === "lookahead" || element.kind === "lookbehind") this.#join(element);
      return EMPTY;
    }
    if (alternativesOf(element).length > 0) return this.#join(element);
    const raw = element.type === "Backreference" ? "[^]" : element.raw;
    const one = new RegExp(raw, this.#flags);
    const characters = CODES.filter((code) => one.test(String.fromCharCode(code)));
    const position = { characters, next: [] };
    this.positions.push(position);
    return { first: [position], last: [position], canBeEmpty: false };
  }
}

function link(before: Part, after: Part): void {
  for (const { next } of before.last) next.push(...after.first);
}

/** Two ways from the position back to it, on the same text. */
function hasTwoCycles(start: Position): boolean {
  const seen = new Map<Position, Map<Position, Set<boolean>>>();
  const pending: [Position, Position, boolean][] = [[start, start, false]];
  for (const [one, other, haveParted] of pending) {
    for (const [at, a] of one.next.entries()) {
      for (const [otherAt, b] of other.next.entries()) {
        const parted = haveParted || one !== other || at !== otherAt;
        if (!a.characters.some((code) => b.characters.includes(code))) continue;
        if (a === start && b === start && parted) return true;
        const others = seen.get(a) ?? new Map<Position, Set<boolean>>();
        const states = others.get(b) ?? new Set<boolean>();
        if (states.has(parted)) continue;
        seen.set(a, others.set(b, states.add(parted)));
        pending.push([a, b, parted]);
      }
    }
  }
  return false;
}

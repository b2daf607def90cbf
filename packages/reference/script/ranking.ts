/** Something that the search finds. */
export interface Entry {
  title: string;
  detail: string;
  url: string;
  kind: Kind;
  /** What a query may abbreviate: the words of the title, and of an operation's ID. */
  names: readonly (readonly string[])[];
  /** What contains a query, if no name begins with it. */
  text: string;
}

/** How many results of each kind are shown at most, and how far below better kinds they are. */
const KINDS = {
  operation: { limit: 60, penalty: 0 },
  guide: { limit: 4, penalty: 0 },
  error: { limit: 3, penalty: 0 },
  webhook: { limit: 4, penalty: 0.5 },
  schema: { limit: 4, penalty: 0.5 },
  field: { limit: 6, penalty: 1 },
} as const;

export type Kind = keyof typeof KINDS;

/** Words that nobody types to find an operation. */
const IGNORED = new Set(["a", "an", "the", "of", "or", "and", "to", "in", "on", "for", "your"]);

const SKIPPED_WORD = 3;
const REMAINING_WORD = 0.1;
const FURTHER_WORD = 0.5;
const CONTAINED = 12;

/** "api", "key" for "API key", "apiKey" and "api_key". */
export function wordsOf(text: string): string[] {
  const words =
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const needed = words.filter((word) => !IGNORED.has(word));
  return needed.length > 0 ? needed : words;
}

/** The best entries first. */
export function findEntries(entries: readonly Entry[], query: string): Entry[] {
  const tokens = query
    .toLowerCase()
    .split(/[\s{}]+/)
    .filter((token) => token !== "");
  if (tokens.length === 0) return [];
  const ranked = entries
    .map((entry) => ({ entry, cost: costOf(entry, tokens) + KINDS[entry.kind].penalty }))
    .filter(({ cost }) => cost < Infinity)
    .toSorted((a, b) => a.cost - b.cost);
  const counts = new Map<Kind, number>();
  return ranked
    .map(({ entry }) => entry)
    .filter(({ kind }) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return count <= KINDS[kind].limit;
    });
}

/** Every token must match. Infinity: one does not. */
function costOf({ names, text }: Entry, tokens: readonly string[]): number {
  const costs = tokens.map((token) => {
    const contained = text.includes(token) ? CONTAINED : Infinity;
    return Math.min(contained, ...names.map((words) => abbreviationCost(token, words)));
  });
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Whether `query` consists of the beginnings of `words`, in their order: "cd" and "crdep" for "create deployment". */
function abbreviationCost(query: string, words: readonly string[]): number {
  if (query === "") return words.length * REMAINING_WORD;
  const [word, ...rest] = words;
  if (word === undefined) return Infinity;
  let best = SKIPPED_WORD + abbreviationCost(query, rest);
  for (
    let length = 1;
    length <= query.length && word[length - 1] === query[length - 1];
    length += 1
  ) {
    const further = length === query.length ? 0 : FURTHER_WORD;
    best = Math.min(best, further + abbreviationCost(query.slice(length), rest));
  }
  return best;
}

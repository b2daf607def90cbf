import { LIMITS } from "../../../lib/limits.ts";

/** The quotes and the comma around a name in JSON. */
const QUOTES = 3;

/** Of each list, its length and the first names: together as many as fit into one entry. */
export function firstNames(lists: Readonly<Record<string, readonly string[]>>) {
  let length = 0;
  const fits = (name: string) => {
    length += name.length + QUOTES;
    return length < LIMITS.auditNamesLength.value;
  };
  const filled = Object.entries(lists).filter(([, names]) => names.length > 0);
  return Object.fromEntries(
    filled.map(([list, names]) => [list, { names: names.filter(fits), count: names.length }]),
  );
}

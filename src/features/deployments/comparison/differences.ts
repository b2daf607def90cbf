import type { ComparedVariable, VariableDifferences } from "./model.ts";

/** Components are matched by their names. */
export function differencesBetween(
  own: readonly ComparedVariable[],
  others: readonly ComparedVariable[],
): VariableDifferences {
  const ownByName = new Map(own.map((each) => [keyOf(each), each]));
  const othersByName = new Map(others.map((each) => [keyOf(each), each]));
  return {
    missing: others.filter((each) => !ownByName.has(keyOf(each))),
    extra: own.filter((each) => !othersByName.has(keyOf(each))),
    storedDifferently: own.flatMap((each) => {
      const other = othersByName.get(keyOf(each));
      return other && other.storageMethod !== each.storageMethod ? [{ own: each, other }] : [];
    }),
  };
}

function keyOf({ component, name }: ComparedVariable): string {
  return JSON.stringify([component, name]);
}

import type { ComparedVariableRow } from "./store.ts";

export interface VariableDifferences {
  missing: ComparedVariableRow[];
  extra: ComparedVariableRow[];
  storedDifferently: { row: ComparedVariableRow; other: ComparedVariableRow }[];
}

/** Components are matched by their names. */
export function differencesBetween(
  own: readonly ComparedVariableRow[],
  others: readonly ComparedVariableRow[],
): VariableDifferences {
  const ownByName = new Map(own.map((row) => [keyOf(row), row]));
  const othersByName = new Map(others.map((row) => [keyOf(row), row]));
  return {
    missing: others.filter((row) => !ownByName.has(keyOf(row))),
    extra: own.filter((row) => !othersByName.has(keyOf(row))),
    storedDifferently: own.flatMap((row) => {
      const other = othersByName.get(keyOf(row));
      return other && other.storageMethod !== row.storageMethod ? [{ row, other }] : [];
    }),
  };
}

function keyOf({ component, name }: ComparedVariableRow): string {
  return JSON.stringify([component, name]);
}

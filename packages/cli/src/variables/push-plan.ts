import type { Schemas } from "../../../client/src/index.ts";

type VariableInput = Schemas["VariableInput"];

/** What a push of a file would do to the variables. */
export interface PushPlan {
  added: VariableInput[];
  changed: VariableInput[];
  /** Variables with the same value in the file. */
  unchanged: VariableInput[];
  /** The names that the file lacks. */
  missing: string[];
}

/** Existing variables keep their storage method; new ones get `method`. */
export function planPush(
  file: ReadonlyMap<string, string>,
  existing: readonly Schemas["RevealedVariable"][],
  method: Schemas["StorageMethod"],
): PushPlan {
  const byName = new Map(existing.map((variable) => [variable.name, variable]));
  const plan: PushPlan = { added: [], changed: [], unchanged: [], missing: [] };
  for (const [name, value] of file) {
    const before = byName.get(name);
    const input = { name, storage_method: before?.storage_method ?? method, value };
    if (!before) plan.added.push(input);
    else if (before.value === value) plan.unchanged.push(input);
    else plan.changed.push(input);
  }
  plan.missing = existing.map(({ name }) => name).filter((name) => !file.has(name));
  return plan;
}

/** A line for each name that differs, in alphabetical order. Values are never shown. */
export function renderPlan({ added, changed, missing }: PushPlan): string {
  const lines = [
    ...added.map(({ name }) => ({ sign: "+", name })),
    ...changed.map(({ name }) => ({ sign: "~", name })),
    ...missing.map((name) => ({ sign: "-", name })),
  ];
  return lines
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ sign, name }) => `${sign} ${name}`)
    .join("\n");
}

export function describeNames({ added, changed, unchanged, missing }: PushPlan) {
  const namesOf = (inputs: readonly VariableInput[]) => inputs.map(({ name }) => name);
  return {
    added: namesOf(added),
    changed: namesOf(changed),
    unchanged: namesOf(unchanged),
    missing,
  };
}

/** The fields of a record, as answers show them; none of them secret. */
export type Fields = Record<string, unknown>;

/** So much of a field is kept, as JSON; of a larger one, its size. */
const KEPT_LENGTH = 16_384;
/** Says nothing of what a person did. */
const SILENT_FIELDS = ["updated_at"];

/**
 * The fields in which two states of a record differ, in the one and in the other. A field that is
 * absent or undefined on one side is left out there.
 */
export function differenceBetween(
  before: Fields | undefined,
  after: Fields | undefined,
): { before: Fields | undefined; after: Fields | undefined } {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changed = [...names].filter(
    (name) =>
      !SILENT_FIELDS.includes(name) &&
      JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
  );
  return { before: before && pick(before, changed), after: after && pick(after, changed) };
}

function pick(fields: Fields, names: readonly string[]): Fields {
  const kept = names
    .filter((name) => fields[name] !== undefined)
    .map((name) => [name, abridge(fields[name])] as const);
  return Object.fromEntries(kept);
}

function abridge(value: unknown): unknown {
  const { length } = JSON.stringify(value);
  return length > KEPT_LENGTH ? { characters: length } : value;
}

import type { Change, Fields, RecordType } from "./model.ts";

/** A field whose JSON is longer is recorded by its length alone. */
const MAXIMUM_FIELD_CHARACTERS = 16_384;
/** Changes with every write, and says nothing about it. */
const IGNORED_FIELDS = ["updated_at"];

/** How the changes to a feature's records are recorded: as the API presents the records. */
export function changeRecorder<Row>(
  type: RecordType,
  projectIdOf: (row: Row) => string,
  present: (row: Row) => Fields & { id: string; name?: string },
) {
  const about = (row: Row) => {
    const { id, name } = present(row);
    return { projectId: projectIdOf(row), record: { type, id, name } };
  };
  return {
    created: (row: Row): Change<"created"> => ({
      ...about(row),
      action: "created",
      after: present(row),
    }),
    updated: (before: Row, after: Row): Change<"updated"> => ({
      ...about(after),
      action: "updated",
      before: present(before),
      after: present(after),
    }),
    deleted: (row: Row): Change<"deleted"> => ({
      ...about(row),
      action: "deleted",
      before: present(row),
    }),
  };
}

/** The fields that differ between two states, as each state has them; undefined ones are left out. */
export function differenceBetween(
  before: Fields | undefined,
  after: Fields | undefined,
): { before: Fields | undefined; after: Fields | undefined } {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changed = [...names].filter(
    (name) =>
      !IGNORED_FIELDS.includes(name) &&
      JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
  );
  return { before: before && pick(before, changed), after: after && pick(after, changed) };
}

/** Whether an update leaves every field as it was read. */
export function isNoOp({ action, before, after }: Change): boolean {
  const difference = differenceBetween(before, after);
  const fields = { ...difference.before, ...difference.after };
  return action === "updated" && Object.keys(fields).length === 0;
}

function pick(fields: Fields, names: readonly string[]): Fields {
  const kept = names
    .filter((name) => fields[name] !== undefined)
    .map((name) => [name, abridge(fields[name])] as const);
  return Object.fromEntries(kept);
}

function abridge(value: unknown): unknown {
  const { length } = JSON.stringify(value);
  return length > MAXIMUM_FIELD_CHARACTERS ? { characters: length } : value;
}

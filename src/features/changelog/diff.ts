import type { Action, RecordType } from "./model.ts";

/** The fields of a record, as answers show them; none of them secret. */
export type Fields = Record<string, unknown>;

/** What somebody does to a record of a project. */
export interface Change {
  projectId: string;
  action: Action;
  record: { type: RecordType; id: string; name?: string | undefined };
  /** As the record is shown: undefined for one that is made. */
  before?: Fields | undefined;
  /** Undefined for one that is deleted. */
  after?: Fields | undefined;
}

/**
 * How a feature tells of changes to its records: of one that was made, by what it is now; of one
 * that was deleted, by what it was; and of one that was changed, by both.
 */
export function changeRecorder<Row>(
  type: RecordType,
  projectIdOf: (row: Row) => string,
  present: (row: Row) => Fields & { id: string; name?: string },
) {
  return (before: Row | undefined, after: Row | undefined): Change => {
    const row = after ?? before;
    if (!row) throw new Error("A record that neither was nor is does not change");
    const { id, name } = present(row);
    return {
      projectId: projectIdOf(row),
      action: before ? (after ? "updated" : "deleted") : "created",
      record: { type, id, name },
      before: before && present(before),
      after: after && present(after),
    };
  };
}

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

/**
 * Whether a change leaves the record as it was read. It has no entry, so it must not be written
 * either: it would undo, untold, what somebody else has changed since.
 */
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
  return length > KEPT_LENGTH ? { characters: length } : value;
}

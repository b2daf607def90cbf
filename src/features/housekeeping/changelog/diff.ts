import { jsonBytes } from "../../../lib/json-value.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { ChangedType } from "../../../lib/resource-types.ts";
import type { Change, Fields } from "./model.ts";

/** Every write changes them, so they carry no information. */
const IGNORED_FIELDS = ["updated_at"];

export function changesOf<Row>(
  type: ChangedType,
  projectIdOf: (row: Row) => string,
  present: (row: Row) => Fields & { id: string; name?: string },
) {
  const subjectOf = (row: Row) => {
    const { id, name } = present(row);
    return { projectId: projectIdOf(row), record: { type, id, name } };
  };
  return {
    created: (row: Row): Change<"created"> => ({
      ...subjectOf(row),
      action: "created",
      after: present(row),
    }),
    updated: (before: Row, after: Row): Change<"updated"> => ({
      ...subjectOf(after),
      action: "updated",
      before: present(before),
      after: present(after),
    }),
    deleted: (row: Row): Change<"deleted"> => ({
      ...subjectOf(row),
      action: "deleted",
      before: present(row),
    }),
  };
}

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

export function isNoOp({ action, before, after }: Change): boolean {
  const difference = differenceBetween(before, after);
  const fields = { ...difference.before, ...difference.after };
  return action === "updated" && Object.keys(fields).length === 0;
}

function pick(fields: Fields, names: readonly string[]): Fields {
  const entries = names
    .filter((name) => fields[name] !== undefined)
    .map((name) => [name, abridge(fields[name])] as const);
  return Object.fromEntries(entries);
}

function abridge(value: unknown): unknown {
  const isLong = jsonBytes(value) > LIMITS.recordedFieldBytes.value;
  return isLong ? { characters: JSON.stringify(value).length } : value;
}

import { ACTIONS_OF_CHANGES } from "../../../../../src/lib/resource-types.ts";
import type { Schemas } from "../../../../client/src/index.ts";

export type AuditRecord = Schemas["AuditRecord"];
export type ChangelogEntry = Schemas["ChangelogEntry"];

/** What is loaded of a list, newest first. */
export interface Feed<T> {
  items: readonly T[];
  hasMore: boolean;
}

/** One act: from the audit log, from the changelog, or from both. */
export interface Activity {
  id: string;
  /** In milliseconds since the Unix epoch. */
  at: number;
  action: string;
  record?: AuditRecord;
  /** A bulk write has one audit record and a changelog entry for each variable. */
  changes: readonly ChangelogEntry[];
}

export interface Merged {
  activities: readonly Activity[];
  /** The index of the list whose next page shows more: 0 is the audit log. Undefined: there is no more. */
  next: number | undefined;
}

/** The two entries of one act are at most this apart: they are written together, on the clock of one isolate. */
export const TOGETHER_MS = 5_000;

/**
 * Merges the lists down to the newest of their ends, below which one of them may lack entries. An act is shown only when
 * nothing that is still to be loaded can be a part of it, or take one of its parts.
 */
export function mergeFeeds(
  audit: Feed<AuditRecord>,
  changelogs: readonly Feed<ChangelogEntry>[],
): Merged {
  const ends = [audit, ...changelogs].map(endOf);
  const end = Math.max(...ends);
  const all = joinEntries(
    audit.items,
    changelogs.flatMap(({ items }) => items),
  );
  return {
    activities: all.filter(({ at }) => at > end + 2 * TOGETHER_MS),
    next: end === Number.NEGATIVE_INFINITY ? undefined : ends.indexOf(end),
  };
}

function endOf({ items, hasMore }: Feed<{ created_at: string }>): number {
  if (!hasMore) return Number.NEGATIVE_INFINITY;
  const last = items.at(-1);
  return last ? timeOf(last) : Number.POSITIVE_INFINITY;
}

/** Each entry once, newest first. */
export function joinEntries(
  records: readonly AuditRecord[],
  entries: readonly ChangelogEntry[],
): Activity[] {
  const changesOf = new Map<AuditRecord, ChangelogEntry[]>();
  const alone: ChangelogEntry[] = [];
  for (const entry of newestFirst(entries)) {
    const record = findRecord(entry, records, changesOf);
    if (record) changesOf.set(record, [...(changesOf.get(record) ?? []), entry]);
    else alone.push(entry);
  }
  const acts = [
    ...records.map((record) => ({
      ...{ id: record.id, at: timeOf(record), action: record.action as string },
      ...{ record, changes: changesOf.get(record) ?? [] },
    })),
    ...alone.map((entry) => ({
      ...{ id: entry.id, at: timeOf(entry), action: actionOf(entry), changes: [entry] },
    })),
  ];
  return acts.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
}

/** The change's action, as the audit log names it. */
export function actionOf({ record, action }: ChangelogEntry): string {
  const name = `${record.type}.${action}`;
  return ACTIONS_OF_CHANGES[name] ?? name;
}

function findRecord(
  entry: ChangelogEntry,
  records: readonly AuditRecord[],
  taken: ReadonlyMap<AuditRecord, unknown>,
): AuditRecord | undefined {
  const distance = (record: AuditRecord) => Math.abs(timeOf(record) - timeOf(entry));
  const [nearest] = records
    .filter(
      (record) =>
        distance(record) <= TOGETHER_MS &&
        record.actor.membership_id === entry.actor?.membership_id &&
        (isBulkOf(record, entry) || (isOf(record, entry) && !taken.has(record))),
    )
    .toSorted((a, b) => distance(a) - distance(b) || (a.id < b.id ? 1 : -1));
  return nearest;
}

function isOf({ action, outcome, target }: AuditRecord, entry: ChangelogEntry): boolean {
  return outcome === "success" && target.id === entry.record.id && action === actionOf(entry);
}

/** Whether the record is that of a request that made several changes. */
function isBulkOf({ action, target }: AuditRecord, entry: ChangelogEntry): boolean {
  if (action === "project_members.added") {
    return actionOf(entry) === "project_member.added" && target.id === entry.project_id;
  }
  if (action !== "variables.written" || entry.record.type !== "variable") return false;
  // The component, if it has one, or else the environment.
  const scope = entry.targets.find(({ type }) => type === "component" || type === "environment");
  return scope?.id === target.id;
}

function newestFirst<T extends { id: string; created_at: string }>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1));
}

function timeOf({ created_at }: { created_at: string }): number {
  return Date.parse(created_at);
}

/** An act, or equal ones of a day. */
export interface Row {
  activity: Activity;
  count: number;
}

export interface Day {
  /** Midnight on the clock of the browser. */
  at: number;
  rows: readonly Row[];
}

/** The days, newest first. What runners read on a day for one environment is one row, where the newest is. */
export function groupByDay(activities: readonly Activity[]): Day[] {
  const days = new Map<number, Map<string, Row>>();
  for (const activity of activities) {
    const day = new Date(activity.at).setHours(0, 0, 0, 0);
    const rows = days.get(day) ?? new Map<string, Row>();
    days.set(day, rows);
    const key = foldKeyOf(activity);
    const row = rows.get(key);
    if (row) row.count += 1;
    else rows.set(key, { activity, count: 1 });
  }
  return [...days].map(([at, rows]) => ({ at, rows: [...rows.values()] }));
}

function foldKeyOf({ id, action, record }: Activity): string {
  if (action !== "variables.delivered" || !record) return id;
  const { actor, targets } = record;
  const environment = targets.find(({ type }) => type === "environment");
  return JSON.stringify([actor.pool_id, actor.name, environment?.id]);
}

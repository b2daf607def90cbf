import { is, SQL, sql } from "drizzle-orm";
import { credentialIdOf } from "../../../actor.ts";
import type {
  ChangedKey,
  IdempotentRequest,
  ServiceContext,
  SystemContext,
} from "../../../context.ts";
import { observe } from "../../../db/batch.ts";
import { jsonRow, mergeFields } from "../../../db/json-row.ts";
import * as store from "./store.ts";

export type SavingContext = SystemContext & Pick<ServiceContext, "idempotentRequest">;

/** A result as JSON: a value that the service knows, or a row as the batch leaves it. */
type StoredResult = ({ value: unknown } | { row: object[] }) & {
  /** See `EntryOptions`. */
  json: readonly string[];
};

export type Select = Parameters<typeof jsonRow>[0];

export interface EntryOptions {
  condition: SQL | "always";
  /** The keys to invalidate again for a repeat. In SQL: a JSON list, read at this statement. */
  changedKeys?: readonly ChangedKey[] | SQL;
  /** Fields that are JSON texts. They are stored as JSON: as texts, they can be twice as long. */
  json?: readonly string[];
}

/** What the response shows: the row of a select, which the batch runs in the place of the entry, or a value. */
export type Shown = { row: Select } | { value: unknown };

/**
 * The entry for repeats. The statements that follow may depend on the one before as if it were absent.
 * Undefined, which runs nothing, if the request has no `Idempotency-Key`.
 * @param secrets Of `sealSecrets`: the result is then `{ row, ...secrets }`.
 */
export function saveResponse(
  ctx: SavingContext,
  shown: Shown,
  options: EntryOptions,
  secrets?: string,
) {
  const result = "row" in shown ? storedRow(shown.row, options) : storedValue(shown.value, options);
  return insert(ctx, result, options, secrets);
}

const saved = new WeakSet<IdempotentRequest>();

/** Whether the entry of the request is committed. */
export function isSaved(request: IdempotentRequest): boolean {
  return saved.has(request);
}

function storedValue(value: unknown, { json = [] }: EntryOptions): string {
  return JSON.stringify({ json, value: convert(value, json, parseText) });
}

/** Null without a row, which the table refuses. */
function storedRow(select: Select, { json = [] }: EntryOptions): SQL {
  return sql`${`{"json":${JSON.stringify(json)},"row":`} || ${jsonRow(select, json)} || '}'`;
}

/** The result of a stored text, as the verb returned it. */
export function readStored(text: string): unknown {
  const stored = JSON.parse(text) as StoredResult;
  const result = "row" in stored ? mergeFields(stored.row) : stored.value;
  return convert(result, stored.json, (value) => (value === null ? null : JSON.stringify(value)));
}

function parseText(value: unknown): unknown {
  return typeof value === "string" ? JSON.parse(value) : value;
}

function convert(
  value: unknown,
  names: readonly string[],
  toValue: (value: unknown) => unknown,
): unknown {
  if (names.length === 0) return value;
  const fields = Object.entries(value as object).map(
    ([name, each]) => [name, names.includes(name) ? toValue(each) : each] as const,
  );
  return Object.fromEntries(fields);
}

function insert(
  ctx: SavingContext,
  result: string | SQL,
  { condition, changedKeys = [] }: EntryOptions,
  secrets = "",
) {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const keys = is(changedKeys, SQL) ? changedKeys : JSON.stringify(changedKeys);
  const createdAt = ctx.clock.now();
  const row = { ...toRow(request), createdAt, result, secrets, changedKeys: keys };
  const when = condition === "always" ? sql`true` : condition;
  return observe(store.insertEntry(ctx.db, row, when), () => saved.add(request));
}

function toRow({ entryId, key, fingerprint, status, actor }: IdempotentRequest) {
  const { organizationId } = actor;
  const credentialId = credentialIdOf(actor);
  return { id: entryId, organizationId, credentialId, key, fingerprint, status };
}

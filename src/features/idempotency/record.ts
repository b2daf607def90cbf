import { is, SQL, sql } from "drizzle-orm";
import type { ChangedKey, IdempotentRequest, ServiceContext } from "../../context.ts";
import { observe } from "../../db/batch.ts";
import { jsonRow, jsonRows, mergeFields } from "../../db/json-row.ts";
import type { EncryptionContext } from "../../lib/cipher.ts";
import * as store from "./store.ts";

/** A result as JSON: a value that the service knows, or rows as the batch leaves them. */
type StoredResult = { value: unknown } | { row: object[] } | { rows: object[][] };

type Select = Parameters<typeof jsonRow>[0];

export interface RecordOptions {
  /** By default that the previous statement of the batch changed a row. */
  condition?: SQL;
  /** The keys to invalidate again for a repeat. In SQL: a JSON list, read at this statement. */
  changedKeys?: readonly ChangedKey[] | SQL;
}

/**
 * Records a result that the service knows before its batch, directly after the guarded statement. The
 * statements that follow may depend on `changes() > 0` as if it were absent. Undefined, which runs
 * nothing, if the request has no `Idempotency-Key`.
 */
export function recordResult(ctx: ServiceContext, value: unknown, options?: RecordOptions) {
  return insert(ctx, JSON.stringify({ value }), options);
}

/** Like `recordResult`, for the row of a select, which the batch runs in the place of this statement. */
export function recordRow(ctx: ServiceContext, select: Select, options?: RecordOptions) {
  return insert(ctx, sql`json_object('row', ${jsonRow(select)})`, options);
}

/** Like `recordRow`, for all rows, in the order of the select. */
export function recordRows(ctx: ServiceContext, select: Select, options?: RecordOptions) {
  return insert(ctx, sql`json_object('rows', ${jsonRows(select)})`, options);
}

/**
 * Like `recordRow`, for a result `{ row, ...secrets }`. The secrets, which only the first response and
 * its repeats show, are stored sealed. A group, because awaiting a statement of Drizzle runs it.
 * @param row A select, or the value.
 */
export async function recordWithSecrets(
  ctx: ServiceContext,
  row: Select | object | null,
  secrets: object,
  options?: RecordOptions,
) {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const { organizationId } = ctx.actor;
  const context = secretsContext({ id: request.recordId, organizationId });
  const sealed = await (await ctx.cipher()).seal(JSON.stringify(secrets), context);
  const result = isSelect(row)
    ? sql`json_object('row', ${jsonRow(row)})`
    : JSON.stringify({ value: row });
  return { sealed: insert(ctx, result, options, sealed) };
}

/** The result of a stored record, as the service returned it to the first request. */
export async function readResult(ctx: ServiceContext, record: store.RecordRow): Promise<unknown> {
  const result = decode(JSON.parse(record.result) as StoredResult);
  if (record.secrets === "") return result;
  const secrets = await (await ctx.cipher()).open(record.secrets, secretsContext(record));
  return { row: result, ...(JSON.parse(secrets) as object) };
}

export function secretsContext(record: { id: string; organizationId: string }): EncryptionContext {
  const { id, organizationId } = record;
  return { table: "idempotency_records", row: id, organizationId, owners: [] };
}

function insert(
  ctx: ServiceContext,
  result: string | SQL,
  { condition = sql`changes() > 0`, changedKeys = [] }: RecordOptions = {},
  secrets = "",
) {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const keys = is(changedKeys, SQL) ? changedKeys : JSON.stringify(changedKeys);
  const row = { ...toRow(ctx, request), result, secrets, changedKeys: keys };
  return observe(store.insertRecord(ctx, row, condition), (inserted) => {
    request.isRecorded ||= inserted.length > 0;
  });
}

function toRow({ actor, clock }: ServiceContext, request: IdempotentRequest) {
  const { recordId, key, fingerprint, status } = request;
  const { organizationId, keyId: credentialId } = actor;
  return {
    ...{ id: recordId, organizationId, credentialId, key, fingerprint, status },
    createdAt: clock.now(),
  };
}

function decode(stored: StoredResult): unknown {
  if ("row" in stored) return mergeFields(stored.row);
  if ("rows" in stored) return stored.rows.map(mergeFields);
  return stored.value;
}

function isSelect(row: Select | object | null): row is Select {
  return row !== null && "getSQL" in row;
}

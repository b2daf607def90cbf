import { is, SQL, sql } from "drizzle-orm";
import {
  type Actor,
  type ChangedKey,
  credentialIdOf,
  type IdempotentRequest,
  type ServiceContext,
  type SystemContext,
} from "../../context.ts";
import { observe } from "../../db/batch.ts";
import { jsonRow, mergeFields } from "../../db/json-row.ts";
import type { EncryptionContext } from "../../lib/cipher.ts";
import { Unauthorized } from "../../lib/errors.ts";
import { orgRoleReaches } from "../../lib/roles.ts";
import * as store from "./store.ts";

type SavingContext = SystemContext & Pick<ServiceContext, "idempotentRequest">;

/** A result as JSON: a value that the service knows, or a row as the batch leaves it. */
type StoredResult = ({ value: unknown } | { row: object[] }) & {
  /** See `RecordOptions`. */
  json: readonly string[];
};

/** What is sealed. */
interface StoredSecrets {
  /** Of the key at the first request. */
  authority: Authority;
  secrets: object;
}

type Authority = Pick<Actor, "role" | "scopes" | "projectIds" | "environmentIds">;

export type Select = Parameters<typeof jsonRow>[0];

export interface RecordOptions {
  /** By default that the previous statement of the batch changed a row. */
  condition?: SQL | "always" | undefined;
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
  options?: RecordOptions,
  secrets?: string,
) {
  const result = "row" in shown ? storedRow(shown.row, options) : storedValue(shown.value, options);
  return insert(ctx, result, options, secrets);
}

/**
 * Seals what only the first response and its repeats show. Undefined if the request has no
 * `Idempotency-Key`.
 */
export async function sealSecrets(
  ctx: SavingContext,
  secrets: object,
): Promise<string | undefined> {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const { recordId: id, actor } = request;
  const context = secretsContext({ id, organizationId: actor.organizationId });
  const stored: StoredSecrets = { authority: authorityOf(actor), secrets };
  return (await ctx.cipher()).seal(JSON.stringify(stored), context);
}

/** Of verbs that do not use `write` yet. */
export function recordResult(ctx: ServiceContext, value: unknown, options?: RecordOptions) {
  return saveResponse(ctx, { value }, options);
}

/** Of verbs that do not use `write` yet. */
export function recordRow(ctx: ServiceContext, row: Select, options?: RecordOptions) {
  return saveResponse(ctx, { row }, options);
}

/** Of verbs that do not use `write` yet. */
export async function recordWithSecrets(
  ctx: ServiceContext,
  row: Select | object | null,
  secrets: object,
  options?: RecordOptions,
) {
  const sealed = await sealSecrets(ctx, secrets);
  return {
    sealed: saveResponse(ctx, isSelect(row) ? { row } : { value: row }, options, sealed),
  };
}

/**
 * The result of a stored record, as the service returned it to the first request. Throws `Unauthorized`
 * for a result with secrets if the key has less than it had at the first request.
 */
export async function readResult(ctx: ServiceContext, record: store.RecordRow): Promise<unknown> {
  const result = decode(JSON.parse(record.result) as StoredResult);
  if (record.secrets === "") return result;
  const opened = await (await ctx.cipher()).open(record.secrets, secretsContext(record));
  const { authority, secrets } = JSON.parse(opened) as StoredSecrets;
  if (hasLess(ctx.actor, authority)) throw new Unauthorized(HAS_LESS);
  return { row: result, ...secrets };
}

const HAS_LESS =
  "This key has less access than at its first request, whose response has a secret. The secret is not " +
  "shown again.";

function authorityOf({ role, scopes, projectIds, environmentIds }: Actor): Authority {
  return { role, scopes, projectIds, environmentIds };
}

/** Whether the role is lower, or the key was narrowed: it cannot be widened. */
function hasLess(actor: Actor, { role, ...narrowing }: Authority): boolean {
  const { role: current, ...now } = authorityOf(actor);
  return !orgRoleReaches(current, role) || JSON.stringify(now) !== JSON.stringify(narrowing);
}

function storedValue(value: unknown, { json = [] }: RecordOptions = {}): string {
  return JSON.stringify({ json, value: convert(value, json, parseText) });
}

/** Null without a row, which the table refuses. */
function storedRow(select: Select, { json = [] }: RecordOptions = {}): SQL {
  return sql`${`{"json":${JSON.stringify(json)},"row":`} || ${jsonRow(select, json)} || '}'`;
}

function decode(stored: StoredResult): unknown {
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

export function secretsContext(record: { id: string; organizationId: string }): EncryptionContext {
  const { id, organizationId } = record;
  return { table: "idempotency_records", row: id, organizationId, owners: [] };
}

function insert(
  ctx: SavingContext,
  result: string | SQL,
  { condition = sql`changes() > 0`, changedKeys = [] }: RecordOptions = {},
  secrets = "",
) {
  const request = ctx.idempotentRequest;
  if (!request) return undefined;
  const keys = is(changedKeys, SQL) ? changedKeys : JSON.stringify(changedKeys);
  const createdAt = ctx.clock.now();
  const row = { ...toRow(request), createdAt, result, secrets, changedKeys: keys };
  const when = condition === "always" ? sql`true` : condition;
  return observe(store.insertRecord(ctx.db, row, when), () => request.recorded());
}

function toRow({ recordId, key, fingerprint, status, actor }: IdempotentRequest) {
  const { organizationId } = actor;
  const credentialId = credentialIdOf(actor);
  return { id: recordId, organizationId, credentialId, key, fingerprint, status };
}

function isSelect(row: Select | object | null): row is Select {
  return row !== null && "getSQL" in row;
}

import { and, eq, not, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { grantsScope, SCOPES, type Scope } from "../../../lib/scopes.ts";
import { apiKeys, whereKeyIsLive } from "../credentials/api-key-table.ts";
import {
  boundWays,
  familyTable,
  keepsOwnerKey,
  keysMadeWith,
  type Members,
  rootOf,
  selectValue,
} from "../credentials/index.ts";
import type { KeyChange } from "./narrowing.ts";
import { type ApiKeyRow, KEY_COLUMNS } from "./store.ts";

/**
 * Changes nothing if the request expects another version, or if the key has changed. Narrows nothing if
 * something that descends from the key would have more than it, or if no owner's key would remain.
 */
export function updateKey(ctx: ServiceContext, before: ApiKeyRow, change: KeyChange) {
  const { name, narrowed } = change;
  const isSameName = name === undefined ? undefined : eq(apiKeys.name, before.name);
  return ctx.db
    .update(apiKeys)
    .set({
      name,
      ...narrowed,
      ...(narrowed && { keyVersion: nextVersion(apiKeys.keyVersion) }),
      ...(narrowed?.expiresAt !== undefined && { expiresByPolicy: false }),
      version: nextVersion(apiKeys.version),
    })
    .where(
      and(
        eq(apiKeys.organizationId, before.organizationId),
        eq(apiKeys.id, before.id),
        hasExpectedVersion(ctx, apiKeys.version),
        isSameName,
        narrowed && mayNarrow(before, narrowed, ctx.clock.now()),
      ),
    )
    .returning(KEY_COLUMNS);
}

type KeyId = Pick<ApiKeyRow, "id" | "organizationId">;
type Narrowed = NonNullable<KeyChange["narrowed"]>;

function mayNarrow(before: ApiKeyRow, narrowed: Narrowed, now: number): SQL | undefined {
  const { organizationId, id, keyVersion } = before;
  return and(
    eq(apiKeys.keyVersion, keyVersion),
    keepsOwnerKey(organizationId, { column: "id", value: id }, now),
    not(excessOf(newDescendantsOf(before), before, narrowed, now)),
  );
}

/** Selects the IDs of the key, of its keys, and of what else descends from it, unless that is much: see `excessWalk`. */
function newDescendantsOf({ id, organizationId }: KeyId): SQL {
  return sql`${familyTable(rootOf(id), organizationId, boundWays)} select id from family union ${keysMadeWith(id)}`;
}

/** For a walk: see `excessOf`. */
export function excessWalk(db: Database, key: KeyId, narrowed: Narrowed, now: number) {
  const select = (members: Members) => {
    const ids = sql`select id from (${members}) as member`;
    return selectValue(db, sql`select ${excessOf(ids, key, narrowed, now)}`);
  };
  const { id, organizationId } = key;
  return { walk: { roots: [id], organizationId, ways: boundWays }, select };
}

/** 2 if something that descends from the key, among what `ids` selects, would outlive it, and 1 if it would exceed it. */
function excessOf(ids: SQL, key: KeyId, narrowed: Narrowed, now: number): SQL {
  return sql`iif(${outlives(ids, key, narrowed, now)}, 2, ${exceeds(ids, key, narrowed, now)})`;
}

/** Whether something that descends from the key, among what `ids` selects, lasts longer than the key would. */
function outlives(ids: SQL, key: KeyId, { expiresAt }: Narrowed, now: number): SQL {
  if (expiresAt === undefined) return sql`false`;
  const lasts = (end: SQL) => sql`(${end} is null or ${end} > ${expiresAt})`;
  const everything = {
    keys: lasts(sql`${apiKeys.expiresAt}`),
    trusts: sql`true`,
    tokens: lasts(TOKEN_EXPIRY),
  };
  return hasDescendant(ids, key, everything, now);
}

/** Whether something that descends from the key, among what `ids` selects, can access more than the key could. */
function exceeds(ids: SQL, key: KeyId, narrowed: Narrowed, now: number): SQL {
  const { scopes, projectIds, environmentIds } = narrowed;
  const isAbove = (table: "api_keys" | "trusts") =>
    anyOf([
      scopes && lacks(table, "scopes", grantedBy(scopes)),
      projectIds && lacks(table, "project_ids", projectIds),
      environmentIds && lacks(table, "environment_ids", environmentIds),
    ]);
  // A key with boundaries has no access to runner pools.
  const losesPools =
    projectIds || environmentIds || (scopes && !grantsScope(scopes, "runners:write"));
  const usesPool = losesPools ? sql`true` : sql`false`;
  return hasDescendant(
    ids,
    key,
    {
      keys: isAbove("api_keys"),
      trusts: sql`iif(trusts.pool_id is null, ${isAbove("trusts")}, ${usesPool})`,
      tokens: usesPool,
    },
    now,
  );
}

const TOKEN_EXPIRY = sql`runner_tokens.expires_at`;

/**
 * Whether something descends from the key, also through revoked keys, that meets the condition of its
 * table. A rotation can prolong a key that has expired, unless it is of a trust.
 */
function hasDescendant(
  ids: SQL,
  { id: keyId }: KeyId,
  conditions: { keys: SQL; trusts: SQL; tokens: SQL },
  now: number,
): SQL {
  return sql`(exists (select 1 from ${apiKeys} where ${apiKeys.id} in (${ids})
      and ${apiKeys.id} <> ${keyId} and (${apiKeys.trustId} is null or ${whereKeyIsLive(now)})
      and ${conditions.keys})
    or exists (select 1 from trusts where trusts.created_by_key_id in (${ids})
      and ${conditions.trusts})
    or exists (select 1 from runner_tokens where runner_tokens.created_by_key_id in (${ids})
      and (${TOKEN_EXPIRY} is null or ${TOKEN_EXPIRY} > ${now}) and ${conditions.tokens}))`;
}

/** Whether a JSON list has more than the allowed texts. Null is the list of all. */
function lacks(table: "api_keys" | "trusts", name: string, allowed: readonly string[]): SQL {
  const column = sql.raw(`${table}.${name}`);
  return sql`(${column} is null or exists (select 1 from json_each(${column}) as item
    where item.value not in (select value from json_each(${JSON.stringify(allowed)}))))`;
}

function grantedBy(scopes: readonly Scope[]): Scope[] {
  return SCOPES.filter((scope) => grantsScope(scopes, scope));
}

function anyOf(conditions: readonly (SQL | undefined)[]): SQL {
  return sql`(${sql.join([sql`false`, ...conditions.filter((each) => each !== undefined)], sql` or `)})`;
}

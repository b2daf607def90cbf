import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { resourceHasExpectedVersion } from "../../../db/expected-version.ts";
import { apiKeys, whereKeyIsLive } from "../credentials/api-key-table.ts";
import {
  type DescendantsOption,
  FAMILY_MEMBERS,
  type FamilyRevocation,
  familyOf,
  isInPart,
  keepsOwnerKey,
  madeBy,
  openPart,
  type Revocation,
} from "../credentials/index.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { runnerTokens } from "../credentials/runner-token-table.ts";
import { trusts } from "../credentials/trust-table.ts";
import { type KeyOrTombstone, within } from "./store.ts";

/**
 * The keys of the part that `openKeyPart` opens: none if the request expects another version, or if no owner's key
 * would remain.
 */
export function revocationOf({ actor, clock }: ServiceContext, key: KeyOrTombstone): Revocation {
  const { organizationId } = key;
  return { organizationId, keys: isInPart(apiKeys), now: clock.now(), actor };
}

export function openKeyPart(
  ctx: ServiceContext,
  key: KeyOrTombstone,
  descendants: Exclude<DescendantsOption, "revoke"> | undefined,
) {
  const { id } = key;
  const mayStay =
    descendants === "keep" ? sql`true` : sql`not ${hasFamily(key, ctx.clock.now(), true)}`;
  return openPart(ctx.db, {
    credentials: sql`select id, 0 as turn from api_keys where id = ${id}`,
    condition: sql`${mayRevoke(ctx, key, sql`select ${id}`)} and ${mayStay}`,
  });
}

/** Of the key with its whole family. */
export function familyRevocationOf(ctx: ServiceContext, key: KeyOrTombstone): FamilyRevocation {
  const { actor, clock } = ctx;
  const { id, organizationId } = key;
  return {
    organizationId,
    roots: sql`select ${id} as id`,
    reach: "founded",
    condition: mayRevoke(ctx, key, FAMILY_MEMBERS),
    isEverywhere: actor.role === "owner",
    now: clock.now(),
    actor,
  };
}

function mayRevoke(ctx: ServiceContext, key: KeyOrTombstone, ids: SQL): SQL {
  const { id, organizationId } = key;
  const keepsOwner = keepsOwnerKey(organizationId, { column: "id", value: ids }, ctx.clock.now());
  if ("revokedAt" in key) return keepsOwner;
  const isExpected = resourceHasExpectedVersion(ctx, apiKeys.version, within(organizationId, id));
  return sql`${keepsOwner} and ${isExpected}`;
}

type KeyId = Pick<KeyOrTombstone, "id" | "organizationId">;

/**
 * Whether the family of a key has something else that `descendants=revoke` ends, besides sessions and
 * sign-in links, which always end with their key.
 */
function hasFamily({ id, organizationId }: KeyId, now: number, isEverywhere: boolean): SQL {
  const ids = familyOf(sql`select ${id} as id`, organizationId, "founded");
  const among = (table: SQL) =>
    isEverywhere ? sql`true` : sql`+${table}.organization_id = ${organizationId}`;
  const made = (table: Parameters<typeof madeBy>[1], isLive: SQL) =>
    sql`exists (select 1 from ${table} where ${table.id} in (${madeBy(ids, table)})
      and ${among(sql`${table}`)} and ${isLive})`;
  const lasts = (end: SQLWrapper) => sql`(${end} is null or ${end} > ${now})`;
  return sql`(exists (select 1 from ${apiKeys} where ${apiKeys.id} in (${ids})
      and ${apiKeys.id} <> ${id} and ${apiKeys.sessionId} is null
      and ${among(sql`${apiKeys}`)} and ${whereKeyIsLive(now)})
    or ${made(trusts, sql`true`)}
    or ${made(runnerTokens, lasts(runnerTokens.expiresAt))}
    or ${made(invitations, lasts(invitations.expiresAt))})`;
}

/** Whether `descendants=revoke` of the actor would end more than the key. */
export function findFamily({ db, actor, clock }: ServiceContext, key: KeyId) {
  const found = hasFamily(key, clock.now(), actor.role === "owner");
  return db.get<{ found: number }>(sql`select ${found} as found`);
}

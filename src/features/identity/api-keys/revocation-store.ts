import { type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { resourceHasExpectedVersion } from "../../../db/expected-version.ts";
import { apiKeys, whereKeyIsLive } from "../credentials/api-key-table.ts";
import {
  type FamilyCondition,
  type FamilyRevocation,
  familyTable,
  familyWays,
  isInPart,
  isWhole,
  keepsOwnerKey,
  keysMadeWith,
  type Members,
  madeBy,
  openPart,
  type Revocation,
  rootOf,
  selectValue,
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

/**
 * @param family `any`: the key ends whether or not it has a family. `none`: only if one statement finds the whole family,
 * and nothing valid in it. `new`: only if it has made nothing valid since a walk has found nothing.
 */
export function openKeyPart(
  ctx: ServiceContext,
  key: KeyOrTombstone,
  family: "any" | "none" | "new",
) {
  const { id } = key;
  const ids = sql`${familyOf(key)} select id from family where degree > 0 union ${keysMadeWith(id)}`;
  const hasNone = sql`not ${hasFamily(key, ids, ctx.clock.now())}`;
  const whole = family === "none" ? sql`(${familyOf(key)} select ${isWhole(WAYS)})` : sql`true`;
  return openPart(ctx.db, {
    credentials: sql`select id, 0 as turn from api_keys where id = ${id}`,
    condition: sql`${mayRevoke(ctx, key)(sql`select ${id}`, true)}
      and ${family === "any" ? sql`true` : sql`${whole} and ${hasNone}`}`,
  });
}

/** Of the key with its whole family. */
export function familyRevocationOf(ctx: ServiceContext, key: KeyOrTombstone): FamilyRevocation {
  const { actor, clock } = ctx;
  return {
    organizationId: key.organizationId,
    roots: [key.id],
    reach: "founded",
    isEverywhere: actor.role === "owner",
    isAudited: true,
    condition: mayRevoke(ctx, key),
    now: clock.now(),
    actor,
  };
}

/** That an owner's key remains; and at first that the key has the version that the request expects. */
function mayRevoke(ctx: ServiceContext, key: KeyOrTombstone): FamilyCondition {
  const { id, organizationId } = key;
  return (lost, isFirst) => {
    const keeps = keepsOwnerKey(organizationId, { column: "id", value: lost }, ctx.clock.now());
    if (!isFirst || "revokedAt" in key) return keeps;
    const isExpected = resourceHasExpectedVersion(ctx, apiKeys.version, within(organizationId, id));
    return sql`${keeps} and ${isExpected}`;
  };
}

type KeyId = Pick<KeyOrTombstone, "id" | "organizationId">;

const WAYS = familyWays("founded");

function familyOf({ id, organizationId }: KeyId): SQL {
  return familyTable(rootOf(id), organizationId, WAYS);
}

/**
 * Whether members of a key's family have something else that `descendants=revoke` ends, besides sessions and
 * sign-in links, which always end with their key.
 * @param ids Selects the IDs of the members.
 */
function hasFamily({ id }: KeyId, ids: SQL, now: number): SQL {
  const made = (table: Parameters<typeof madeBy>[1], isLive: SQL) =>
    sql`exists (select 1 from ${madeBy(sql`(${ids})`, table)} and ${isLive})`;
  const lasts = sql`(made.expires_at is null or made.expires_at > ${now})`;
  return sql`(exists (select 1 from ${apiKeys} where ${apiKeys.id} in (${ids})
      and ${apiKeys.id} <> ${id} and ${apiKeys.sessionId} is null and ${whereKeyIsLive(now)})
    or ${made(trusts, sql`true`)} or ${made(runnerTokens, lasts)} or ${made(invitations, lasts)})`;
}

/** For a walk: selects whether members have something else that `descendants=revoke` of an owner ends. */
export function familyWalk({ db, clock }: ServiceContext, key: KeyId) {
  const { id, organizationId } = key;
  const select = (members: Members) => {
    const ids = sql`select id from (${members}) as member where degree > 0`;
    return selectValue(db, sql`select ${hasFamily(key, ids, clock.now())}`);
  };
  return { walk: { roots: [id], organizationId, ways: WAYS }, select };
}

import { and, eq, type SQL, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { listOf } from "../../../db/list-of.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { Bound } from "../../housekeeping/usage/index.ts";
import { trusts } from "../../identity/credentials/trust-table.ts";
import { rulesOf } from "../../projects/access/index.ts";
import { environmentProtections } from "../../projects/access/table.ts";
import type { FoundEnvironment } from "../../projects/environments/index.ts";
import { environments } from "../../tenancy/environment-table.ts";

export interface ProtectionRow {
  environmentId: string;
  /** JSON. Null: never any. */
  rules: string | null;
  updatedAt: number | null;
  version: number;
}

const { environmentId, rules, updatedAt, version } = environmentProtections;

export function findProtection(db: Database, organizationId: string, id: string) {
  return db
    .select({
      environmentId: sql<string>`${environments.id}`.as("protected_id"),
      rules: sql<string | null>`${rules}`.as("rules"),
      updatedAt: sql<number | null>`${updatedAt}`.as("rules_updated_at"),
      version: sql<number>`coalesce(${version}, 0)`.as("rules_version"),
    })
    .from(environments)
    .leftJoin(environmentProtections, eq(environmentId, environments.id))
    .where(and(eq(environments.organizationId, organizationId), eq(environments.id, id)));
}

export type NewProtection = typeof environmentProtections.$inferInsert;

/** Changes nothing if the request expects another version. */
export function replaceProtection(ctx: ServiceContext, row: NewProtection) {
  const { rules: written, updatedAt: now } = row;
  const isExpected = hasExpectedVersion(ctx, version);
  return ctx.db
    .insert(environmentProtections)
    .values(row)
    .onConflictDoUpdate({
      target: environmentId,
      set: { rules: written, updatedAt: now, version: nextVersion(version) },
      ...(isExpected && { setWhere: isExpected }),
    })
    .returning({ environmentId, rules, updatedAt, version });
}

export function listOthers(
  db: Database,
  { organizationId, projectId, id: exceptId }: FoundEnvironment,
  ids: readonly string[],
) {
  return db
    .select({ id: environments.id })
    .from(environments)
    .where(
      sql`${environments.organizationId} = ${organizationId}
        and ${environments.projectId} = ${projectId} and ${environments.id} <> ${exceptId}
        and ${environments.id} in ${listOf(ids)}`,
    );
}

export function listTrusts(db: Database, organizationId: string, ids: readonly string[]) {
  return db
    .select({ id: trusts.id })
    .from(trusts)
    .where(sql`${trusts.organizationId} = ${organizationId} and ${trusts.id} in ${listOf(ids)}`);
}

/**
 * With what the queued deployments would keep of the rules that others replace: a trigger copies them.
 * @param added The bytes of the rules, less those of the replaced ones.
 */
export function growthOf(id: string, added: number): { bytes: SQL; bounds: Bound[] } {
  const ofQueued = (value: SQL) => sql`(select ${value} from deployments as waiting
    where waiting.environment_id = ${id} and waiting.status = 'queued')`;
  const most = ofQueued(sql`coalesce(max(json_array_length(waiting.kept_rules)), 0)`);
  const kept = ofQueued(sql`coalesce(sum(octet_length(waiting.kept_rules)), 0)`);
  const replaced = rulesOf(sql`${id}`);
  const copied =
    ofQueued(sql`coalesce(sum(iif(exists (select 1 from json_each(waiting.kept_rules) as item
    where item.value = ${replaced}), 0, octet_length(${replaced}) + 1)), 0)`);
  const { keptRules, keptRulesBytes } = LIMITS;
  return {
    bytes: sql`${added} + ${copied}`,
    bounds: [
      {
        what: "earlier rules that a queued deployment keeps",
        limit: keptRules.value,
        before: most,
        after: sql`${most} + 1`,
      },
      {
        what: "bytes of earlier rules that queued deployments of an environment keep",
        limit: keptRulesBytes.value,
        before: kept,
        after: sql`${kept} + ${copied}`,
      },
    ],
  };
}

import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { isOneOf } from "../../../db/list-of.ts";
import { DAY_MS } from "../../../lib/clock.ts";
import { environments, POSITION } from "../../tenancy/environment-table.ts";
import type { deploymentDays } from "./table.ts";

export type EnvironmentDaysRow = Awaited<ReturnType<typeof listEnvironmentDays>>[number];

/** Of the JSON that the list selects. */
export type DayRow = Pick<
  typeof deploymentDays.$inferSelect,
  "day" | "succeeded" | "failed" | "canceled" | "superseded" | "recoveries" | "recoveryMs"
> &
  Record<"queued" | "run", string>;

/** The newest of an environment stays: it knows whether the last deployment failed. */
export function isExpired(cutoff: number): SQL {
  return sql`deployment_days.day < ${Math.floor(cutoff / DAY_MS)}
    and exists (select 1 from deployment_days as newer
      where newer.environment_id = deployment_days.environment_id and newer.day > deployment_days.day)`;
}

export function listEnvironmentDays(
  db: Database,
  actor: Actor,
  projectId: string,
  { since, ...page }: PageRequest & { since: number },
) {
  const { id, createdAt, name } = environments;
  const { where, orderBy, limit } = keyset(page, createdAt, id);
  return db
    .select({
      ...{ id, createdAt, name, position: POSITION.as("position") },
      days: sql<string>`(select json_group_array(json_object('day', item.day,
          'succeeded', item.succeeded, 'failed', item.failed, 'canceled', item.canceled,
          'superseded', item.superseded, 'queued', item.queued, 'run', item.run,
          'recoveries', item.recoveries, 'recoveryMs', item.recovery_ms))
        from (select * from deployment_days where deployment_days.environment_id = environments.id
            and deployment_days.day >= ${since} order by deployment_days.day) as item)`.as("days"),
    })
    .from(environments)
    .where(
      and(
        eq(environments.organizationId, actor.organizationId),
        eq(environments.projectId, projectId),
        isOneOf(environments.id, actor.environmentIds),
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
}

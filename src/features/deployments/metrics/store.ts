import { sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { deliveries } from "../../housekeeping/outbox/table.ts";
import { attemptState, attempts, deployments, isLiveAttempt } from "../deployments/table.ts";
import { runners } from "../runner-pools/table.ts";

/** Times are Unix milliseconds. Null: there is nothing of the kind. */
export interface GaugesRow {
  pending: number;
  nextDue: number | null;
  online: number;
  queued: number;
  inProgress: number;
  canceling: number;
  /** The first of what the schedule ends. */
  nextEnd: number | null;
}

/** Reads the partial indexes of what is not over, and the runners. */
export function selectGauges(db: Database, now: number) {
  const isPending = sql`${deliveries.status} = 'pending'`;
  const isCanceling = sql`${deployments.status} = 'canceling'`;
  const isActive = sql`${deployments.status} in ('in_progress', 'canceling')`;
  const isNotEnded = sql`${attempts.state} <> ${attemptState.ended}`;
  return db.get<GaugesRow>(sql`select
    (select count(*) from ${deliveries} where ${isPending}) as pending,
    (select min(due_at) from ${deliveries} where ${isPending}) as nextDue,
    (select count(*) from ${runners} where ${runners.lastSeenAt} > ${now - LIMITS.runnerOnlineMs.value}
      or exists (select 1 from ${attempts} where ${attempts.tokenId} = ${runners.tokenId}
        and ${attempts.runnerName} = ${runners.name} and ${isNotEnded} and ${isLiveAttempt(now)})) as online,
    (select count(*) from ${deployments} where ${deployments.status} = 'queued') as queued,
    (select count(*) from ${deployments} where ${isActive} and ${deployments.status} = 'in_progress') as inProgress,
    (select count(*) from ${deployments} where ${isCanceling}) as canceling,
    (select min(at) from (
      select min(case state when ${attemptState.offered} then offered_until else lost_at end) as at
        from ${attempts} where ${isNotEnded}
      union all select min(cancel_deadline) from ${deployments} where ${isCanceling})) as nextEnd`);
}

import { type SQL, sql } from "drizzle-orm";
import { LIMITS } from "../../../../lib/limits.ts";
import { deploymentStatus, RUNNING_STATUSES } from "../table.ts";
import { STATUSES_WITH_EVENT } from "../write-events.ts";
import { type EnvironmentFilter, matchesFilter } from "./environment-filter.ts";

const { canceling, canceled, superseded } = deploymentStatus;
const OTHER_STATUSES = sql`(${canceling}, ${canceled}, ${superseded})`;
/** What an event with 20 deliveries costs, in stacks that end. */
const EVENT_WORK = sql.raw("60");
const OTHER_WORK = sql.raw("5");
const MAXIMUM_WORK = sql.raw(String(LIMITS.finalizedStacks.value));
const MAXIMUM_COUNT = sql.raw(String(LIMITS.finalizedStacks.value / 5));
const STACKS = sql`iif(status in ${RUNNING_STATUSES}, 0, stack_count)`;

/**
 * Selects those whose new status has had no consequences yet, at least one, and as many as one batch may
 * finalize. The next batch continues. Those with an event are first, because somebody waits for it.
 */
export function changedDeployments(filter: EnvironmentFilter): SQL {
  const some = (rank: SQL, statuses: SQL, work: SQL) => sql`select * from (
    select id, ${rank} as rank, ${STACKS} + ${work} as work
    from deployments indexed by deployments_changed
    where status <> announced and status in ${statuses}
      and ${matchesFilter(filter, sql`environment_id`) ?? sql`true`} limit ${MAXIMUM_COUNT})`;
  return sql`(select id from (
    select id, sum(work) over (order by rank, id) - work as before from (
      ${some(sql`0`, STATUSES_WITH_EVENT, EVENT_WORK)}
      union all ${some(sql`1`, OTHER_STATUSES, OTHER_WORK)}))
    where before < ${MAXIMUM_WORK})`;
}

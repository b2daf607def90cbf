import { and, eq, sql } from "drizzle-orm";
import type { Runner } from "../../context.ts";
import type { Database } from "../../db/client.ts";
import { insertFrom } from "../../db/insert-from.ts";
import { CUMULATIVE_BYTES, keyset, type PageRequest, pageOrder } from "../../db/keyset.ts";
import { cutDeployments, DEPLOYMENT_RECORD, STACKS_OF_PAGE } from "../deployments/index.ts";
import { attempts, deployments } from "../deployments/table.ts";
import { environments } from "../environments/table.ts";
import type { Directive } from "./directive.ts";
import { HELD_DEPLOYMENT } from "./store.ts";

/** A deployment that a runner was given, and what proves it. */
export interface Claim {
  row: ClaimRow;
  leaseToken: string;
  desired: Directive;
}

export type ClaimRow = Awaited<ReturnType<typeof findClaim>>[number];

export interface NewAttempt {
  id: string;
  poolId: string;
  tokenId: string;
  requestId: string;
  now: number;
  offeredUntil: number;
}

/**
 * Offers the oldest deployment whose turn it is in any environment of the pool: none is active
 * there, none is offered, none older waits, and none newer was ever started. The same request gets
 * no second one.
 */
export function insertAttempt(db: Database, attempt: NewAttempt) {
  const { id, poolId, tokenId, requestId, now, offeredUntil } = attempt;
  return insertFrom(
    db,
    attempts,
    {
      id,
      organizationId: sql`deployments.organization_id`,
      environmentId: sql`environments.id`,
      deploymentId: sql`deployments.id`,
      poolId,
      requestId,
      epoch: sql`environments.epoch + 1`,
      state: "offered",
      offeredUntil,
      leaseUntil: null,
      lostAt: null,
      outcome: null,
      completion: null,
      createdAt: now,
      startedAt: null,
      endedAt: null,
      tokenId,
      runUntil: null,
    },
    sql`from runner_pool_environments
      join environments on environments.id = runner_pool_environments.environment_id
      join deployments on deployments.environment_id = environments.id
        and deployments.status = 'queued'
      where runner_pool_environments.pool_id = ${poolId}
        and deployments.number > environments.started_number
        and deployments.number = (select min(older.number) from deployments as older
          where older.environment_id = environments.id and older.status = 'queued')
        and not exists (select 1 from deployments as active
          where active.environment_id = environments.id
            and active.status in ('in_progress', 'canceling'))
        and not exists (select 1 from attempts as other
          where other.environment_id = environments.id and other.state <> 'ended')
        and not exists (select 1 from attempts as same
          where same.pool_id = ${poolId} and same.request_id = ${requestId})
      order by deployments.created_at, deployments.id limit 1`,
  );
}

/** Raises the epoch of the environment, if the attempt was inserted in the same batch. */
export function raiseEpoch(db: Database, attemptId: string) {
  return db
    .update(environments)
    .set({ epoch: sql`epoch + 1` })
    .where(sql`${environments.id} = (select environment_id from attempts where id = ${attemptId})`);
}

/** An attempt, its deployment, and the names of the environment's variables. */
const CLAIM = {
  ...HELD_DEPLOYMENT,
  attemptCreatedAt: sql<number>`${attempts.createdAt}`.as("attempt_created_at"),
  variableNames: sql<string>`(select json_group_array(named.name) from (
    select distinct name from variables where variables.environment_id = deployments.environment_id
    order by name) as named)`.as("variable_names"),
};

/** What a request of the pool was given: the attempt, its deployment, and names of variables. */
export function findClaim(db: Database, poolId: string, requestId: string) {
  return db
    .select(CLAIM)
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(and(eq(attempts.poolId, poolId), eq(attempts.requestId, requestId)));
}

/** The attempts that were claimed with a token and are its runner's still, swept or not. */
export function listClaims(
  db: Database,
  { poolId, keyId }: Runner,
  page: PageRequest,
  now: number,
) {
  const { where, orderBy, limit } = keyset(page, attempts.createdAt, attempts.id);
  const records = db
    .select({
      ...DEPLOYMENT_RECORD,
      id: sql`${attempts.id}`.as("id"),
      createdAt: sql`${attempts.createdAt}`.as("created_at"),
    })
    .from(attempts)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .where(
      and(
        eq(attempts.tokenId, keyId),
        eq(attempts.poolId, poolId),
        sql`${attempts.state} <> 'ended'`,
        sql`case ${attempts.state} when 'offered' then ${attempts.offeredUntil} > ${now}
          else ${attempts.lostAt} > ${now} end`,
        where,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit);
  return db
    .select({ ...CLAIM, stacks: STACKS_OF_PAGE, ...CUMULATIVE_BYTES })
    .from(cutDeployments(page, records))
    .innerJoin(attempts, sql`${attempts.id} = page.id`)
    .innerJoin(deployments, eq(deployments.id, attempts.deploymentId))
    .orderBy(pageOrder(page));
}

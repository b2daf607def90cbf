import { createHmac } from "node:crypto";
import { issueRunnerToken } from "../src/features/identity/runner-tokens/credentials.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import type { Seed } from "./seed.ts";

export const LEASE_SECRET = "the lease secret of the benchmarks";
/** Longer than any benchmark: the attempts get no heartbeats. */
const LOST_AFTER_MS = 3_600_000;

/** A started attempt, with a runner token of its own, because each token has its own rate limit. */
export interface SeededAttempt {
  attemptId: string;
  deploymentId: string;
  stackId: string;
  token: string;
  leaseToken: string;
}

/** For JSON of the rows. */
const INSERTS = [
  `insert into environments (id, organization_id, project_id, name, configuration, created_at,
      updated_at)
    select value ->> 'environmentId', value ->> 'organizationId', value ->> 'projectId',
      value ->> 'environmentId', '{}', value ->> 'now', value ->> 'now'
    from json_each(?1)`,
  `insert into runner_pools (id, organization_id, name, created_at, updated_at)
    select value ->> 'poolId', value ->> 'organizationId', value ->> 'poolId', value ->> 'now',
      value ->> 'now'
    from json_each(?1)`,
  `insert into runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, created_at)
    select value ->> 'tokenId', value ->> 'organizationId', value ->> 'poolId', 'bench',
      value ->> 'secretHash', value ->> 'lastFour', value ->> 'now'
    from json_each(?1)`,
  `insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
      queue, patch, configuration, created_at, started_at, updated_at, stack_count)
    select value ->> 'deploymentId', value ->> 'organizationId', value ->> 'projectId',
      value ->> 'environmentId', 1, 'in_progress', 'in_progress', 'fifo', '[]', '{}', value ->> 'now',
      value ->> 'now', value ->> 'now', 1
    from json_each(?1)`,
  `insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id, position,
      status, seq, timestamp, deployment_created_at)
    select value ->> 'deploymentId', value ->> 'stackId', value ->> 'organizationId',
      value ->> 'environmentId', 0, 'in_progress', 1, value ->> 'now', value ->> 'now'
    from json_each(?1)`,
  `insert into attempts (id, organization_id, environment_id, deployment_id, pool_id, request_id, epoch,
      state, offered_until, lease_until, lost_at, created_at, started_at, token_id, runner_name)
    select value ->> 'attemptId', value ->> 'organizationId', value ->> 'environmentId',
      value ->> 'deploymentId', value ->> 'poolId', value ->> 'attemptId', 1, 'running',
      value ->> 'lostAt', value ->> 'lostAt', value ->> 'lostAt', value ->> 'now', value ->> 'now',
      value ->> 'tokenId', ''
    from json_each(?1)`,
];

/** Inserts started attempts, each in an environment and a pool of its own. */
export async function insertAttempts(
  d1: D1Database,
  seed: Seed,
  count: number,
): Promise<SeededAttempt[]> {
  const rows = await Promise.all(Array.from({ length: count }, () => makeRow(seed)));
  const json = JSON.stringify(rows);
  await d1.batch(INSERTS.map((insert) => d1.prepare(insert).bind(json)));
  return rows;
}

async function makeRow({ actor: { organizationId }, project }: Seed) {
  const id = () => newId(systemClock);
  const attemptId = id();
  const { id: tokenId, key: token, secretHash, lastFour } = await issueRunnerToken(id());
  const now = systemClock.now();
  return {
    ...{ organizationId, projectId: project.id, environmentId: id(), stackId: id() },
    ...{ deploymentId: id(), attemptId, poolId: id(), tokenId, token, secretHash, lastFour },
    leaseToken: createHmac("sha256", LEASE_SECRET).update(attemptId).digest("hex"),
    ...{ now, lostAt: now + LOST_AFTER_MS },
  };
}

import { createHmac } from "node:crypto";
import { issueRunnerToken } from "../src/features/runner-pools/credentials.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import type { Seed } from "./seed.ts";

export const LEASE_SECRET = "the lease secret of the benchmarks";

/** A started attempt, with a runner token of its own, because each token has its own rate limit. */
export interface SeededAttempt {
  attemptId: string;
  deploymentId: string;
  stackId: string;
  token: string;
  leaseToken: string;
}

const INSERT_ENVIRONMENTS = `
  insert into environments (id, organization_id, project_id, name, configuration, created_at, updated_at)
  select value ->> 'environmentId', ?2, ?3, value ->> 'environmentId', '{}', ?4, ?4 from json_each(?1)`;

const INSERT_POOLS = `
  insert into runner_pools (id, organization_id, name, created_at, updated_at)
  select value ->> 'poolId', ?2, value ->> 'poolId', ?3, ?3 from json_each(?1)`;

const INSERT_TOKENS = `
  insert into runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, created_at)
  select value ->> 'tokenId', ?2, value ->> 'poolId', 'bench', value ->> 'secretHash', 'abcd', ?3
  from json_each(?1)`;

const INSERT_DEPLOYMENTS = `
  insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
    queue, patch, configuration, created_at, started_at, updated_at)
  select value ->> 'deploymentId', ?2, ?3, value ->> 'environmentId', 1, 'in_progress', 'in_progress',
    'fifo', '[]', '{}', ?4, ?4, ?4
  from json_each(?1)`;

const INSERT_STACKS = `
  insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id, position,
    status, seq, timestamp, deployment_created_at)
  select value ->> 'deploymentId', value ->> 'stackId', ?2, value ->> 'environmentId', 0,
    'in_progress', 1, ?3, ?3
  from json_each(?1)`;

const INSERT_ATTEMPTS = `
  insert into attempts (id, organization_id, environment_id, deployment_id, pool_id, request_id, epoch,
    state, offered_until, lease_until, lost_at, created_at, started_at)
  select value ->> 'attemptId', ?2, value ->> 'environmentId', value ->> 'deploymentId',
    value ->> 'poolId', value ->> 'attemptId', 1, 'running', ?3, ?3, ?3 + 3600000, ?3, ?3
  from json_each(?1)`;

/** Inserts started attempts, each in an environment and a pool of its own. */
export async function insertAttempts(
  d1: D1Database,
  { actor: { organizationId }, project }: Seed,
  count: number,
): Promise<SeededAttempt[]> {
  const rows = await Promise.all(Array.from({ length: count }, makeRow));
  const json = JSON.stringify(rows);
  const now = systemClock.now();
  const ofProject = [INSERT_ENVIRONMENTS, INSERT_DEPLOYMENTS];
  const statements = [
    INSERT_ENVIRONMENTS,
    INSERT_POOLS,
    INSERT_TOKENS,
    INSERT_DEPLOYMENTS,
    INSERT_STACKS,
    INSERT_ATTEMPTS,
  ];
  await d1.batch(
    statements.map((statement) => {
      const projectId = ofProject.includes(statement) ? [project.id] : [];
      return d1.prepare(statement).bind(json, organizationId, ...projectId, now);
    }),
  );
  return rows;
}

async function makeRow() {
  const id = () => newId(systemClock);
  const attemptId = id();
  const { id: tokenId, key: token, secretHash } = await issueRunnerToken(id());
  return {
    ...{ attemptId, deploymentId: id(), stackId: id(), environmentId: id(), poolId: id() },
    ...{ tokenId, token, secretHash },
    leaseToken: createHmac("sha256", LEASE_SECRET).update(attemptId).digest("hex"),
  };
}

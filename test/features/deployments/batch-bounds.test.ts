import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  CONNECTION,
  newDeployableProject,
  newDeployment,
  newWorld,
  type World,
} from "../../support/world.ts";

const QUEUED = LIMITS.unfinishedDeployments.value;
const ENVIRONMENTS = LIMITS.poolEnvironments.value;
const STACKS = LIMITS.stacksOfEnvironment.value;
/** Of a batch of D1: 50 ms. */
const MOST_UNITS = 50_000;
const KINDS = ["deployments_in_progress", "deployments_failed", "changelog"];

let worker: Instrumented;

beforeEach(() => {
  worker = new Instrumented();
});

/** Of the largest batch since the last call. */
function largestUnits(): number {
  const units = worker.database.map(({ rowsRead = 0, rowsWritten = 0 }) =>
    unitsOf({ rows_read: rowsRead, rows_written: rowsWritten }),
  );
  worker.forget();
  return Math.max(...units);
}

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

async function count(sql: string, environments: readonly string[]): Promise<number> {
  const found = await env.DB.prepare(
    `select count(*) as n from ${sql} and environment_id in (select value from json_each(?))`,
  )
    .bind(JSON.stringify(environments))
    .first<number>("n");
  return Number(found);
}

const connectAgain = ({ client }: World, projectId: string) =>
  client.put(`/v1/projects/${projectId}/connection`, CONNECTION);

/** A project with as many integrations as it may have, and an environment with as many stacks. */
async function newLargeProject(world: World) {
  const { project, environmentId, pool } = await newDeployableProject(world);
  const { id } = await newIntegration(world.client, project.id, KINDS);
  const others = newIdsOf(LIMITS.integrationsPerProject.value - 1);
  await copyRow(world.id, "integrations", id, others, {});
  await run(
    `insert into stacks (id, organization_id, project_id, environment_id, name, created_at, updated_at)
     select value, organization_id, project_id, environments.id, 'stack-' || key, key, 0
     from json_each(?1) join environments on environments.id = ?2`,
    JSON.stringify(newIdsOf(STACKS)),
    environmentId,
  );
  return { project, environmentId, pool };
}

/** Copies a deployment with its stacks. */
async function copyDeployment(
  world: World,
  id: string,
  ids: readonly string[],
  changes: Record<string, string>,
): Promise<void> {
  await copyRow(world.id, "deployments", id, ids, changes);
  for (let at = 0; at < ids.length; at += 50) {
    await run(
      `insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id,
         position, status, seq, timestamp, deployment_created_at)
       select copied.id, stack_id, copied.organization_id, copied.environment_id, position, included.status,
         seq, timestamp, copied.created_at
       from json_each(?1) join deployments as copied on copied.id = value
       join deployment_stacks as included on included.deployment_id = ?2`,
      JSON.stringify(ids.slice(at, at + 50)),
      id,
    );
  }
}

/** As many deployments as may wait in an environment. */
async function fillQueue(world: World, environmentId: string, stackCount?: number): Promise<void> {
  const { id } = await newDeployment(world.client, environmentId, { queue: "fifo" });
  if (stackCount !== undefined) {
    await run(
      "delete from deployment_stacks where deployment_id = ? and position >= ?",
      id,
      stackCount,
    );
    await run("update deployments set stack_count = ? where id = ?", stackCount, id);
  }
  await copyDeployment(world, id, newIdsOf(QUEUED - 1), {
    number: "source.number + 1 + item.key",
    created_at: "source.created_at + 1 + item.key",
  });
}

/** Gives the pool of an environment as many as it may have. Returns their IDs without the first. */
async function copyEnvironment(world: World, environmentId: string): Promise<readonly string[]> {
  const copied = newIdsOf(ENVIRONMENTS - 1);
  await copyRow(world.id, "environments", environmentId, copied, { name: "item.value" });
  await run(
    `insert into runner_pool_environments select pool_id, value, organization_id
     from json_each(?1) join runner_pool_environments on environment_id = ?2`,
    JSON.stringify(copied),
    environmentId,
  );
  return copied;
}

/** Copies the deployments of an environment to all others of its pool, without their stacks. */
async function copyQueues(world: World, environmentId: string): Promise<string[]> {
  const copied = await copyEnvironment(world, environmentId);
  await run(
    `insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
       queue, patch, configuration, created_at, updated_at, held_until)
     select substr(e.id, 12) || substr(d.id, 12), d.organization_id, d.project_id, e.id, number, status,
       announced, queue, patch, d.configuration, d.created_at, d.updated_at, 0
     from json_each(?1) join environments as e on e.id = value
     join deployments as d on d.environment_id = ?2`,
    JSON.stringify(copied),
    environmentId,
  );
  return [environmentId, ...copied];
}

/** Copies a run to all other environments of its pool. */
async function copyRuns(world: World, environmentId: string, attempt: Attempt): Promise<string[]> {
  const copied = await copyEnvironment(world, environmentId);
  const environment = `'${JSON.stringify(copied)}' ->> item.key`;
  const deployments = newIdsOf(copied.length);
  await copyDeployment(world, attempt.deploymentId, deployments, { environment_id: environment });
  await copyRow(world.id, "attempts", attempt.claimed.attempt_id, newIdsOf(copied.length), {
    environment_id: environment,
    deployment_id: `'${JSON.stringify(deployments)}' ->> item.key`,
    request_id: "item.value",
  });
  return [environmentId, ...copied];
}

describe("a creation that supersedes as many deployments as an environment may have queued", () => {
  it.each([STACKS, 294])(
    "of %i stacks takes at most 50 ms of D1, and others follow in steps",
    async (stackCount) => {
      const world = await newWorld();
      const { environmentId, pool } = await newLargeProject(world);
      await fillQueue(world, environmentId, stackCount);
      const path = `/v1/environments/${environmentId}/deployments`;
      const { status, body } = await world.client.via(worker.fetch).post(path, {});
      expect(status).toBe(201);
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
      const unfinished = () =>
        count(
          `deployment_stacks join deployments using (environment_id) where deployment_stacks.deployment_id = deployments.id
           and deployments.status = 'superseded' and deployment_stacks.status = 'pending'`,
          [environmentId],
        );
      expect(await unfinished()).toBeGreaterThan(0);
      const superseded = `deployments where status = 'superseded'`;
      expect(await count(superseded, [environmentId])).toBe(QUEUED);

      const attempt = await Attempt.started(pool.runner);
      expect(attempt.deploymentId).toBe(body.id);
      await worker.sweep();
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    },
  );
});

describe("a claim", () => {
  it("that ends as many lost runs as a pool may have takes at most 50 ms of D1, and the next ones continue", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newLargeProject(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    const environments = await copyRuns(world, environmentId, attempt);
    await run("update attempts set lost_at = 1, lease_until = 1 where pool_id = ?", pool.id);

    expect((await claim(pool.runner.via(worker.fetch))).status).toBe(204);
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    const failed = "deployments where status = 'failed' and failure_reason = 'runner_lost'";
    expect(await count(failed, environments)).toBe(ENVIRONMENTS);
    expect(await count("attempts where outcome = 'lost'", environments)).toBe(ENVIRONMENTS);
    const failures = "events where type = 'deployments.failed'";
    expect(await count(failures, environments)).toBeLessThan(ENVIRONMENTS);
    const unfinished = "deployment_stacks where status = 'pending'";
    for (let runs = 0; (await count(unfinished, environments)) > 0 && runs < 10; runs += 1) {
      await worker.sweep();
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    }
    expect(await count(failures, environments)).toBe(ENVIRONMENTS);
    expect(await count("deployment_stacks where status = 'skipped'", environments)).toBe(
      ENVIRONMENTS * STACKS,
    );
  });

  it("in a pool of full queues takes at most 50 ms of D1", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newLargeProject(world);
    await fillQueue(world, environmentId, 1);
    await copyQueues(world, environmentId);
    expect((await claim(pool.runner.via(worker.fetch))).status).toBe(200);
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
  });
});

describe("the disconnection of a project with 20,000 queued deployments", () => {
  it("takes at most 50 ms of D1, starts none of them, and is complete after some sweeps", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newLargeProject(world);
    await fillQueue(world, environmentId, 1);
    const offered = await Attempt.claim(pool.runner);
    const environments = await copyQueues(world, environmentId);
    await run("update deployments set created_at = 0 where environment_id <> ?", environmentId);

    const path = `/v1/projects/${project.id}/disconnect`;
    expect((await world.client.via(worker.fetch).patch(path, {})).status).toBe(204);
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    const queued = "deployments where status = 'queued'";
    expect(await count(queued, environments)).toBe(
      QUEUED * ENVIRONMENTS - LIMITS.canceledDeployments.value,
    );
    expect((await claim(pool.runner)).status).toBe(204);
    expect((await offered.post("start")).status).toBe(409);
    expect((await connectAgain(world, project.id)).status).toBe(409);

    // Leaves what two sweeps cancel.
    const left = 2 * LIMITS.sweepFinalizations.value * LIMITS.canceledDeployments.value;
    await run(
      `update deployments set status = 'canceled', announced = 'canceled' where rowid in (
         select rowid from deployments where project_id = ?1 and status = 'queued'
           and environment_id <> ?2 limit ?3)`,
      project.id,
      environmentId,
      (await count(queued, environments)) - left,
    );
    const statusOf = async () =>
      (await world.client.get(`/v1/projects/${project.id}`)).body.connection_status;
    await worker.sweep();
    expect(await statusOf()).toBe("disconnecting");
    await worker.sweep();
    expect(await count(queued, environments)).toBe(0);
    expect(await statusOf()).toBe("disconnected");
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    expect((await connectAgain(world, project.id)).status).toBe(200);
  });
});

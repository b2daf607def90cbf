import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "../support/client.ts";
import { copyRow } from "../support/long-lists.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newWorld,
  type World,
} from "../support/world.ts";

const pathOf = (world: World, poolId: string) =>
  `/v1/orgs/${world.id}/runner-pools/${poolId}/attempts`;

async function attemptsOf(world: World, poolId: string, query = ""): Promise<Parsed[]> {
  const { client } = await newKey(world);
  const { status, body } = await client.get(`${pathOf(world, poolId)}${query}`);
  expect(status).toBe(200);
  return body.data;
}

const idsOf = (attempts: readonly Parsed[]) => attempts.map(({ id }) => id);

describe("the live attempts of a pool", () => {
  it("are offered, then run, and are gone once they end", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    expect(await attemptsOf(world, pool.id)).toEqual([]);
    const deployment = await newDeployment(world.client, environmentId);
    expect(await attemptsOf(world, pool.id)).toEqual([]);
    const attempt = await Attempt.claim(pool.runner);
    const { body: token } = await world.client.get(
      `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens/${pool.tokenId}`,
    );
    const timestamp = expect.stringMatching(/^20.*Z$/);
    const offered = {
      id: attempt.claimed.attempt_id,
      deployment_id: deployment.id,
      environment_id: environmentId,
      state: "offered",
      token: { id: token.id, name: token.name },
      created_at: timestamp,
      offered_until: timestamp,
    };
    expect(await attemptsOf(world, pool.id)).toEqual([offered]);
    await attempt.post("start");
    const [running] = await attemptsOf(world, pool.id);
    const { offered_until: _, ...others } = offered;
    const { body } = await world.client.get(`/v1/deployments/${deployment.id}`);
    const { started_at } = body;
    expect(running).toEqual({
      ...others,
      state: "running",
      started_at,
      last_heartbeat_at: started_at,
      run_until: timestamp,
    });
    const runs = Date.parse(running?.["run_until"]) - Date.parse(started_at);
    expect(runs).toBe(6 * 3_600_000);
    await attempt.succeed();
    expect(await attemptsOf(world, pool.id)).toEqual([]);
  });

  it("show the time of the last heartbeat", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    await env.DB.prepare(
      "update attempts set started_at = started_at - 30000, lease_until = lease_until - 30000",
    ).run();
    const [before] = await attemptsOf(world, pool.id);
    expect(before?.["last_heartbeat_at"]).toBe(before?.["started_at"]);
    await attempt.post("heartbeat");
    const [after] = await attemptsOf(world, pool.id);
    expect(after?.["started_at"]).toBe(before?.["started_at"]);
    const moved = Date.parse(after?.["last_heartbeat_at"]) - Date.parse(after?.["started_at"]);
    expect(moved).toBeGreaterThanOrEqual(30_000);
  });

  it("are not those that have lapsed or whose runner is lost, before the sweep ends them", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.claim(pool.runner);
    const { attempt_id } = attempt.claimed;
    const update = (set: string) =>
      env.DB.prepare(`update attempts set ${set} where id = ?`).bind(attempt_id).run();
    await update("offered_until = offered_until - 61000");
    expect(await attemptsOf(world, pool.id)).toEqual([]);
    await update("offered_until = offered_until + 61000");
    await attempt.post("start");
    await update("lease_until = lease_until - 100000, lost_at = lost_at - 100000");
    expect(idsOf(await attemptsOf(world, pool.id))).toEqual([attempt_id]);
    await update("lost_at = lost_at - 261000");
    expect(await attemptsOf(world, pool.id)).toEqual([]);
  });

  it("have no token once it is revoked", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    await Attempt.started(pool.runner);
    const token = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens/${pool.tokenId}`;
    expect((await world.client.delete(token)).status).toBe(204);
    const [found] = await attemptsOf(world, pool.id);
    expect(found).toMatchObject({ state: "running" });
    expect(found).not.toHaveProperty("token");
  });
});

describe("the list of live attempts", () => {
  let world: World;
  let poolId: string;
  let otherId: string;
  const ids: string[] = [];

  beforeAll(async () => {
    world = await newWorld();
    const places = [];
    for (let n = 0; n < 4; n += 1) places.push((await newDeployableProject(world)).environmentId);
    const [elsewhere, ...inside] = places;
    const pool = await newPool(world, inside);
    const other = await newPool(world, [String(elsewhere)]);
    for (const id of places) await newDeployment(world.client, id);
    for (const _ of inside) ids.push((await Attempt.claim(pool.runner)).claimed.attempt_id);
    await Attempt.started(other.runner);
    [poolId, otherId] = [pool.id, other.id];
  });

  it("has the attempts of this pool only, the newest first", async () => {
    expect(idsOf(await attemptsOf(world, poolId))).toEqual(ids.toReversed());
    expect(await attemptsOf(world, otherId)).toHaveLength(1);
  });
});

describe("the row of an attempt", () => {
  it("has a deployment or a plan, and never both or none", async () => {
    const world = await newWorld();
    const { environmentId, pool } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    const { claimed, deploymentId } = await Attempt.claim(pool.runner);
    const insert = (deployment_id: string, plan_id: string) => {
      const id = newId(systemClock);
      const changes = { deployment_id, plan_id, request_id: "item.value", state: "'ended'" };
      return copyRow(world.id, "attempts", claimed.attempt_id, [id], changes);
    };
    await expect(insert("null", "null")).rejects.toThrow("attempts_one_run");
    await expect(insert(`'${deploymentId}'`, "'plan'")).rejects.toThrow("attempts_one_run");
    expect(await insert(`'${deploymentId}'`, "null")).toHaveLength(1);
    expect(await insert("null", "'plan'")).toHaveLength(1);
  });
});

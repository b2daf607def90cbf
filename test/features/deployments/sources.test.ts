import { beforeEach, describe, expect, it } from "vitest";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";

const imageOf = (tag: string) => ({ registry: { image: `ghcr.io/acme/shop:${tag}` } });

let world: World;
let projectId: string;
let environmentId: string;
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  const made = await newDeployableProject(world);
  projectId = made.project.id;
  ({ environmentId, pool } = made);
});

const deploy = (body: object = {}) => newDeployment(world.client, environmentId, body);

async function start(): Promise<{ attempt: Attempt; source: unknown }> {
  const attempt = await Attempt.claim(pool.runner);
  const { body } = await attempt.post("start");
  expect(body.input.deployment.source).toEqual(body.deployment.data.source);
  return { attempt, source: body.input.deployment.source };
}

async function run(outcome = "succeeded"): Promise<unknown> {
  const { attempt, source } = await start();
  const completed = outcome === "succeeded" ? attempt.succeed() : attempt.complete(outcome);
  expect((await completed).status).toBe(200);
  return source;
}

describe("a deployment without a source", () => {
  it("deploys what the environment runs, and null clears it", async () => {
    expect((await deploy()).data.source).toBeUndefined();
    expect(await run()).toBeUndefined();
    await deploy({ source: imageOf("1") });
    expect(await run()).toEqual(imageOf("1"));
    expect((await deploy()).data.source).toEqual(imageOf("1"));
    expect(await run()).toEqual(imageOf("1"));
    await deploy({ source: null });
    expect(await run()).toBeUndefined();
    await deploy();
    expect(await run()).toBeUndefined();
  });

  it("gets what has succeeded between its creation and its start, and nothing that has failed", async () => {
    await deploy({ source: imageOf("1"), queue: "fifo" });
    const kept = await deploy({ queue: "fifo" });
    expect(kept.data.source).toBeUndefined();
    expect(await run()).toEqual(imageOf("1"));
    expect(await run("failed")).toEqual(imageOf("1"));
    const read = await world.client.get(`/v1/deployments/${kept.id}`);
    expect(read.body.data.source).toEqual(imageOf("1"));
    await deploy({ source: imageOf("2"), queue: "fifo" });
    await deploy({ queue: "fifo" });
    expect(await run("failed")).toEqual(imageOf("2"));
    expect(await run()).toEqual(imageOf("1"));
  });

  it("is not changed by another environment", async () => {
    const environments = `/v1/projects/${projectId}/environments`;
    const { body: other } = await world.client.post(environments, { name: "other" });
    await newDeployment(world.client, other.id, { source: imageOf("other") });
    await deploy({ source: imageOf("1") });
    expect(await run()).toEqual(imageOf("1"));
    await deploy();
    expect(await run()).toEqual(imageOf("1"));
  });

  it("is not what a redeployment or a promotion is: these have that of their deployment", async () => {
    await deploy();
    await run();
    const [without] = (await world.client.get(`/v1/environments/${environmentId}/deployments`)).body
      .data;
    await deploy({ source: imageOf("2") });
    await run();
    const again = await world.client.post(`/v1/deployments/${without.id}/redeploy`, {});
    expect([again.status, again.body.data.source]).toEqual([201, undefined]);
    expect(await run()).toBeUndefined();
  });
});

describe("the input of a start", () => {
  it("says which request has created the deployment", async () => {
    const created = await deploy();
    const first = await Attempt.claim(pool.runner);
    expect((await first.post("start")).body.input.deployment).toMatchObject({
      id: created.id,
      trigger: "api",
    });
    await first.succeed();
    await world.client.post(`/v1/deployments/${created.id}/redeploy`, {});
    const second = await Attempt.claim(pool.runner);
    expect((await second.post("start")).body.input.deployment.trigger).toBe("redeployment");
    await second.complete("failed");
    const back = await world.client.post(`/v1/deployments/${created.id}/redeploy`, {});
    expect((await world.client.get(`/v1/deployments/${back.body.id}`)).body.trigger).toBe(
      "rollback",
    );
    const third = await Attempt.claim(pool.runner);
    expect((await third.post("start")).body.input.deployment.trigger).toBe("redeployment");
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newStack,
  newWorld,
  type World,
} from "../../support/world.ts";

/** The reason for the second operation. */
const REASON = /^patch_conflict: operation 1: /;

let world: World;
let project: Parsed;
let environmentId: string;
let environment: string;
let now: number;
let worker: Instrumented;
let runner: Client;

beforeEach(async () => {
  now = Date.now();
  worker = new Instrumented({ clock: { now: () => now } });
  world = await newWorld();
  world.client = world.client.via(worker.fetch);
  project = await newProject(world.client);
  environmentId = project.default_environment_id;
  environment = `/v1/environments/${environmentId}`;
  await connect(world.client, project.id);
  await newStack(world.client, environmentId);
  runner = (await newPool(world, [environmentId])).runner.via(worker.fetch);
});

const queue = (...patch: object[]) =>
  newDeployment(world.client, environmentId, { queue: "fifo", patch });
const again = async (id: string) =>
  (await world.client.post(`/v1/deployments/${id}/redeploy`, { queue: "fifo" })).body;
const set = (path: string, value: unknown) => ({ op: "add", path, value });
const read = async (id: string) => (await world.client.get(`/v1/deployments/${id}`)).body;
const configuration = async () => (await world.client.get(environment)).body.configuration;
const put = (value: object) =>
  world.client.put(environment, { name: "production", configuration: value });

/** Starts the next deployment, and returns it as its runner receives it. */
async function start(): Promise<{ attempt: Attempt; deployment: Parsed }> {
  const attempt = await Attempt.claim(runner);
  const { status, body } = await attempt.post("start");
  expect(status).toBe(200);
  return { attempt, deployment: body.deployment };
}

async function succeed(): Promise<Parsed> {
  const { attempt, deployment } = await start();
  expect((await attempt.succeed()).status).toBe(200);
  return deployment;
}

/** Claims and starts the next deployment, whose patch does not apply. */
async function fail(): Promise<Parsed> {
  const attempt = await Attempt.claim(runner);
  const reply = await attempt.post("start");
  expect(reply).toMatchObject({
    status: 409,
    body: { code: "conflict", cause: { reason: "patch_conflict" } },
  });
  expect(reply.headers.get("deployment-desired")).toBe("stop");
  return read(attempt.deploymentId);
}

describe("queued deployments of an environment", () => {
  it("each apply their patch to the result of the one before", async () => {
    await queue(set("/a", 1), set("/shared", "first"));
    const second = await queue(set("/b", 2), set("/shared", "second"));
    expect(second.data.patch[1]).not.toHaveProperty("old_value");
    await succeed();
    const executed = await succeed();
    expect(executed.id).toBe(second.id);
    expect(executed.data.patch).toEqual([
      set("/b", 2),
      { ...set("/shared", "second"), old_value: "first" },
    ]);
    expect((await read(second.id)).data.patch).toEqual(executed.data.patch);
    expect(await configuration()).toEqual({ a: 1, b: 2, shared: "second" });
  });

  it("roll nothing back without a patch, or after one that failed", async () => {
    await queue(set("/a", 1));
    await queue(set("/broken", true));
    await queue();
    await queue(set("/c", 3));
    await succeed();
    const { attempt } = await start();
    await attempt.complete("failed");
    await succeed();
    expect(await configuration()).toEqual({ a: 1 });
    await succeed();
    expect(await configuration()).toEqual({ a: 1, c: 3 });
  });

  it("keep edits made between their creation and their start", async () => {
    await put({ edited: 1, replicas: 1 });
    const { id } = await queue({ op: "replace", path: "/replicas", value: 5 });
    await put({ edited: 2, replicas: 3 });
    expect((await succeed()).data.patch[0].old_value).toBe(3);
    expect((await read(id)).data.patch[0].old_value).toBe(3);
    expect(await configuration()).toEqual({ edited: 2, replicas: 5 });
  });

  it("start in one batch after an edit of another environment, or one that changes nothing", async () => {
    await put({ a: 1 });
    await queue(set("/b", 2));
    const other = (
      await world.client.post(`/v1/projects/${project.id}/environments`, {
        name: "other",
      })
    ).body;
    const body = { name: "other", configuration: { a: 9 } };
    expect((await world.client.put(`/v1/environments/${other.id}`, body)).status).toBe(200);
    await put({ a: 1 });
    const attempt = await Attempt.claim(runner);
    worker.forget();
    await attempt.post("start");
    expect(worker.database.map(({ statements }) => statements.length)).toEqual([12]);
  });
});

describe("a patch that no longer applies", () => {
  it("fails its deployment with the failing operation, and the next one is offered", async () => {
    await put({ replicas: 1, tags: [] });
    const stackId = String((await newInside(world.client, environmentId))["stack_id"]);
    const failing = await newDeployment(world.client, environmentId, {
      queue: "fifo",
      patch: [set("/x", 1), { op: "test", path: "/replicas", value: 1 }],
      stack_ids: [stackId],
    });
    const removing = await queue({ op: "remove", path: "/tags" });
    await put({ replicas: 2, tags: [] });
    const failed = await fail();
    expect(failed).toMatchObject({
      id: failing.id,
      status: "failed",
      data: {
        patch: failing.data.patch,
        stacks: [{ status: "skipped", status_reason: expect.stringMatching(REASON) }],
      },
    });
    expect(await configuration()).toEqual({ replicas: 2, tags: [] });
    expect((await succeed()).id).toBe(removing.id);
    expect(await configuration()).toEqual({ replicas: 2 });
  });

  it("gives the same reply to a start that is sent again", async () => {
    await put({ a: 1 });
    await queue({ op: "remove", path: "/a" });
    await put({});
    const attempt = await Attempt.claim(runner);
    const [first, second] = [await attempt.post("start"), await attempt.post("start")];
    expect(first.status).toBe(409);
    expect(second.body).toEqual(first.body);
    expect((await claim(runner)).status).toBe(204);
  });

  it("does not fail a deployment whose operations apply to another value", async () => {
    await put({ a: 1 });
    await queue({ op: "test", path: "/a", value: 1 }, { op: "remove", path: "/a" });
    await put({ a: 1, b: 2 });
    await succeed();
    expect(await configuration()).toEqual({ b: 2 });
  });

  it("loses its old values if they are too large now, and still applies", async () => {
    await put({ a: "small" });
    await queue({ op: "replace", path: "/a", value: 1 }, { op: "add", path: "/a", value: 2 });
    await put({ a: "x".repeat(262_100) });
    expect((await succeed()).data.patch).toEqual([
      { op: "replace", path: "/a", value: 1 },
      { op: "add", path: "/a", value: 2 },
    ]);
    expect(await configuration()).toEqual({ a: 2 });
  });

  it("is the difference itself if its old values are too large, and it would not show that", async () => {
    await put({ a: "small" });
    await queue({ op: "add", path: "/a", value: 1 }, { op: "add", path: "/b", value: 2 });
    await put({ a: "x".repeat(262_100) });
    expect((await succeed()).data.patch).toEqual([
      { op: "replace", path: "/a", value: 1 },
      { op: "add", path: "/b", value: 2 },
    ]);
    expect(await configuration()).toEqual({ a: 1, b: 2 });
  });

  it("includes one that makes the configuration too large", async () => {
    await queue(set("/mine", "x".repeat(150_000)));
    await put({ yours: "y".repeat(150_000) });
    expect((await fail()).status).toBe("failed");
  });
});

describe("a configuration that is fixed at creation", () => {
  it("is the result of a redeployment, whose patch is based on the current one", async () => {
    await queue(set("/version", 1));
    const first = await succeed();
    await queue(set("/version", 2));
    await succeed();
    const back = await again(first.id);
    expect(back.data.patch).toEqual([{ op: "replace", path: "/version", value: 1, old_value: 2 }]);
    await put({ version: 3, added: true });
    const executed = await succeed();
    expect(executed.id).toBe(back.id);
    expect(executed.data.patch).toHaveLength(2);
    expect(executed.data.patch).toEqual(
      expect.arrayContaining([
        { op: "remove", path: "/added", old_value: true },
        { op: "replace", path: "/version", value: 1, old_value: 3 },
      ]),
    );
    expect(await configuration()).toEqual({ version: 1 });
  });

  it("is the result of a promotion", async () => {
    await queue(set("/version", 1));
    const { id } = await succeed();
    const staging = (
      await world.client.post(`/v1/projects/${project.id}/environments`, { name: "staging" })
    ).body;
    await newStack(world.client, staging.id);
    const path = `/v1/environments/${staging.id}`;
    const body = { environment_id: staging.id };
    const promoted = (await world.client.post(`/v1/deployments/${id}/promote`, body)).body;
    await world.client.put(path, { name: "staging", configuration: { version: 0, other: 1 } });
    const other = (await newPool(world, [staging.id])).runner.via(worker.fetch);
    const attempt = await Attempt.started(other);
    expect(attempt.deploymentId).toBe(promoted.id);
    await attempt.succeed();
    expect((await world.client.get(path)).body.configuration).toEqual({ version: 1 });
  });
});

describe("a start", () => {
  it("gives the same deployment when sent again, and changes nothing", async () => {
    await put({ a: 1 });
    await queue(set("/a", 2));
    await put({ a: 5 });
    const attempt = await Attempt.claim(runner);
    const first = await attempt.post("start");
    now += 1_000;
    const second = await attempt.post("start");
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(first.body.deployment.data.patch[0].old_value).toBe(5);
  });

  it("makes one more round trip for a rebase", async () => {
    await put({ a: 1 });
    const costs: number[][] = [];
    const measure = async () => {
      const attempt = await Attempt.claim(runner);
      worker.forget();
      await attempt.post("start");
      costs.push(worker.database.map(({ statements }) => statements.length));
      await attempt.succeed();
    };
    await queue(set("/a", 2));
    await queue({ op: "test", path: "/a", value: 1 });
    await measure();
    await queue(set("/a", 3));
    await measure();
    await measure();
    expect(costs).toEqual([[12], [12, 9], [12]]);
  });
});

describe("the configuration of an environment", () => {
  it("cannot be replaced while a deployment is running, and otherwise can", async () => {
    const { id } = await queue(set("/a", 1));
    expect((await put({ b: 1 })).status).toBe(200);
    const { attempt } = await start();
    const refused = await put({ b: 2 });
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect((await put({ b: 1 })).status).toBe(200);
    await world.client.patch(`/v1/deployments/${id}/cancel`);
    expect((await put({ b: 2 })).status).toBe(409);
    await attempt.complete("canceled");
    expect((await put({ b: 2 })).status).toBe(200);
    await queue(set("/c", 1));
    await succeed();
    expect((await put({ d: 1 })).status).toBe(200);
    expect(await configuration()).toEqual({ d: 1 });
  });
});

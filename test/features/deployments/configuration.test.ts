import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useTimedShop } from "../../support/shop.ts";
import { newDeployment, newInside, newPool, newStack } from "../../support/world.ts";

const shop = useTimedShop();

beforeEach(() => newStack(shop.world.client, shop.environmentId));

/** The reason for the second operation. */
const REASON = /^patch_conflict: operation 1: /;

const queue = (...patch: object[]) =>
  newDeployment(shop.world.client, shop.environmentId, { queue: "fifo", patch });
const again = async (id: string) =>
  (await shop.world.client.post(`/v1/deployments/${id}/redeploy`, { queue: "fifo" })).body;
const set = (path: string, value: unknown) => ({ op: "add", path, value });
const put = (value: object) =>
  shop.world.client.put(shop.environment, { name: "production", configuration: value });

/** Starts the next deployment, and returns it as its runner receives it. */
async function start(): Promise<{ attempt: Attempt; deployment: Parsed }> {
  const attempt = await Attempt.claim(shop.runner);
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
  const attempt = await Attempt.claim(shop.runner);
  const reply = await attempt.post("start");
  expect(reply).toMatchObject({
    status: 409,
    body: { code: "conflict", cause: { reason: "patch_conflict" } },
  });
  expect(reply.headers.get("deployment-desired")).toBe("stop");
  return shop.read(attempt.deploymentId);
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
    expect((await shop.read(second.id)).data.patch).toEqual(executed.data.patch);
    expect(await shop.configuration()).toEqual({ a: 1, b: 2, shared: "second" });
  });

  it("keep edits made between their creation and their start", async () => {
    await put({ edited: 1, replicas: 1 });
    const { id } = await queue({ op: "replace", path: "/replicas", value: 5 });
    await put({ edited: 2, replicas: 3 });
    expect((await succeed()).data.patch[0].old_value).toBe(3);
    expect((await shop.read(id)).data.patch[0].old_value).toBe(3);
    expect(await shop.configuration()).toEqual({ edited: 2, replicas: 5 });
  });
});

describe("a patch that no longer applies", () => {
  it("fails its deployment with the failing operation, and the next one is offered", async () => {
    await put({ replicas: 1, tags: [] });
    const stackId = String((await newInside(shop.world.client, shop.environmentId))["stack_id"]);
    const failing = await newDeployment(shop.world.client, shop.environmentId, {
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
    expect(await shop.configuration()).toEqual({ replicas: 2, tags: [] });
    expect((await succeed()).id).toBe(removing.id);
    expect(await shop.configuration()).toEqual({ replicas: 2 });
  });

  it("gives the same reply to a start that is sent again", async () => {
    await put({ a: 1 });
    await queue({ op: "remove", path: "/a" });
    await put({});
    const attempt = await Attempt.claim(shop.runner);
    const [first, second] = [await attempt.post("start"), await attempt.post("start")];
    expect(first.status).toBe(409);
    expect(second.body).toEqual(first.body);
    expect((await claim(shop.runner)).status).toBe(204);
  });

  it("does not fail a deployment whose operations apply to another value", async () => {
    await put({ a: 1 });
    await queue({ op: "test", path: "/a", value: 1 }, { op: "remove", path: "/a" });
    await put({ a: 1, b: 2 });
    await succeed();
    expect(await shop.configuration()).toEqual({ b: 2 });
  });

  it("loses its old values if they are too large now, and still applies", async () => {
    await put({ a: "small" });
    await queue({ op: "replace", path: "/a", value: 1 }, { op: "add", path: "/a", value: 2 });
    await put({ a: "x".repeat(262_100) });
    expect((await succeed()).data.patch).toEqual([
      { op: "replace", path: "/a", value: 1 },
      { op: "add", path: "/a", value: 2 },
    ]);
    expect(await shop.configuration()).toEqual({ a: 2 });
  });

  it("is the difference itself if its old values are too large, and it would not show that", async () => {
    await put({ a: "small" });
    await queue({ op: "add", path: "/a", value: 1 }, { op: "add", path: "/b", value: 2 });
    await put({ a: "x".repeat(262_100) });
    expect((await succeed()).data.patch).toEqual([
      { op: "replace", path: "/a", value: 1 },
      { op: "add", path: "/b", value: 2 },
    ]);
    expect(await shop.configuration()).toEqual({ a: 1, b: 2 });
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
    expect(await shop.configuration()).toEqual({ version: 1 });
  });

  it("is the result of a promotion", async () => {
    await queue(set("/version", 1));
    const { id } = await succeed();
    const staging = (
      await shop.world.client.post(`/v1/projects/${shop.project.id}/environments`, {
        name: "staging",
      })
    ).body;
    await newStack(shop.world.client, staging.id);
    const path = `/v1/environments/${staging.id}`;
    const body = { environment_id: staging.id };
    const promoted = (await shop.world.client.post(`/v1/deployments/${id}/promote`, body)).body;
    await shop.world.client.put(path, { name: "staging", configuration: { version: 0, other: 1 } });
    const other = (await newPool(shop.world, [staging.id])).runner.via(shop.worker.fetch);
    const attempt = await Attempt.started(other);
    expect(attempt.deploymentId).toBe(promoted.id);
    await attempt.succeed();
    expect((await shop.world.client.get(path)).body.configuration).toEqual({ version: 1 });
  });
});

describe("a start", () => {
  it("gives the same deployment when sent again, and changes nothing", async () => {
    await put({ a: 1 });
    await queue(set("/a", 2));
    await put({ a: 5 });
    const attempt = await Attempt.claim(shop.runner);
    const first = await attempt.post("start");
    shop.now += 1_000;
    const second = await attempt.post("start");
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(first.body.deployment.data.patch[0].old_value).toBe(5);
  });

  it("makes one more round trip for a rebase", async () => {
    await put({ a: 1 });
    const costs: number[][] = [];
    const measure = async () => {
      const attempt = await Attempt.claim(shop.runner);
      shop.worker.forget();
      await attempt.post("start");
      costs.push(shop.worker.database.map(({ statements }) => statements.length));
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
    await shop.world.client.patch(`/v1/deployments/${id}/cancel`);
    expect((await put({ b: 2 })).status).toBe(409);
    await attempt.complete("canceled");
    expect((await put({ b: 2 })).status).toBe(200);
    await queue(set("/c", 1));
    await succeed();
    expect((await put({ d: 1 })).status).toBe(200);
    expect(await shop.configuration()).toEqual({ d: 1 });
  });
});

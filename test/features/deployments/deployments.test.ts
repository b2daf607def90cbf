import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useShop } from "../../support/shop.ts";
import { connect, join, newInside, newKey, newProject, newStack } from "../../support/world.ts";

const shop = useShop();
let stackId: string;

beforeEach(async () => {
  stackId = String((await newInside(shop.world.client, shop.environmentId))["stack_id"]);
});

const cancel = (id: string) => shop.world.client.patch(`/v1/deployments/${id}/cancel`);

describe("a deployment", () => {
  it("changes the configuration when it succeeds, and not before", async () => {
    const created = await shop.deploy({ patch: [{ op: "add", path: "/replicas", value: 3 }] });
    expect(created).toMatchObject({
      status: "queued",
      stack_ids: [stackId],
      data: {
        patch: [{ op: "add", path: "/replicas", value: 3 }],
        stacks: [{ id: stackId, status: "pending" }],
      },
    });
    expect(await shop.configuration()).toEqual({});
    await shop.succeed();
    expect(await shop.configuration()).toEqual({ replicas: 3 });
    const done = await shop.read(created.id);
    expect(done).toMatchObject({
      status: "succeeded",
      data: { stacks: [{ status: "succeeded" }] },
    });
    expect(Object.keys(done)).toEqual(expect.arrayContaining(["started_at", "finished_at"]));
  });

  it("records the old value of each operation, and evaluates tests", async () => {
    await shop.deploy({ patch: [{ op: "add", path: "/a", value: { b: [1, 2] } }] });
    await shop.succeed();
    const patch = [
      { op: "test", path: "/a/b/0", value: 1 },
      { op: "replace", path: "/a/b/0", value: 9 },
      { op: "move", from: "/a/b", path: "/c" },
      { op: "remove", path: "/a" },
    ];
    const { data } = await shop.deploy({ patch });
    expect(data.patch.map((each: Parsed) => each.old_value)).toEqual([undefined, 1, undefined, {}]);
  });

  it("is refused once somebody has disconnected the project, but not before it is connected", async () => {
    const other = await newProject(shop.world.client);
    const path = `/v1/projects/${other.id}`;
    const there = `/v1/environments/${other.default_environment_id}/deployments`;
    await newStack(shop.world.client, other.default_environment_id);
    const create = () => shop.world.client.post(there, {});
    expect((await create()).status).toBe(201);
    expect((await shop.world.client.patch(`${path}/disconnect`)).status).toBe(204);
    const refused = await create();
    expect(refused.status).toBe(409);
    const { display_name } = (await shop.world.client.get("/v1/account")).body;
    expect(refused.body.message).toMatch(
      / has disconnected the project at 20.+Z\. Connect it first\.$/,
    );
    expect(refused.body.message.startsWith(display_name)).toBe(true);
    const [ended] = (await shop.world.client.get(there)).body.data;
    const preview = await shop.world.client.get(`/v1/deployments/${ended.id}/redeployment`);
    expect(preview.body.error.message).toBe(refused.body.message);
    await connect(shop.world.client, other.id);
    expect((await create()).status).toBe(201);
  });

  it("has stacks of its environment only", async () => {
    const other = await newProject(shop.world.client);
    const there = `/v1/environments/${other.default_environment_id}/deployments`;
    expect((await shop.world.client.post(there, { stack_ids: [stackId] })).status).toBe(404);
    const own = await newStack(shop.world.client, other.default_environment_id);
    expect((await shop.world.client.post(there, { stack_ids: [stackId, own] })).status).toBe(404);
    expect((await shop.world.client.post(there, { stack_ids: [own] })).body.stack_ids).toEqual([
      own,
    ]);
  });

  it("without stacks is a conflict, however it would be created, and so is its preview", async () => {
    const { id } = await shop.deploy();
    await shop.succeed();
    const { body: empty } = await shop.world.client.post(
      `/v1/projects/${shop.project.id}/environments`,
      {
        name: "empty",
      },
    );
    const there = `/v1/environments/${empty.id}/deployments`;
    const created = await shop.world.client.post(there, {});
    const chosen = await shop.world.client.post(`${shop.environment}/deployments`, {
      stack_ids: [],
    });
    const promotion = { environment_id: empty.id };
    const promoted = await shop.world.client.post(`/v1/deployments/${id}/promote`, promotion);
    const promotionPreview = await shop.world.client.get(
      `/v1/deployments/${id}/promotion/${empty.id}`,
    );
    const other = await newStack(shop.world.client, empty.id);
    expect((await shop.world.client.post(there, {})).body.stack_ids).toEqual([other]);
    expect((await shop.world.client.delete(`/v1/stacks/${stackId}`)).status).toBe(204);
    const redeployed = await shop.world.client.post(`/v1/deployments/${id}/redeploy`, undefined);
    const preview = await shop.world.client.get(`/v1/deployments/${id}/redeployment`);
    for (const { status, body } of [created, chosen, promoted, redeployed]) {
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.message).toContain("has no stacks. Create a stack in the environment first.");
    }
    for (const { body } of [promotionPreview, preview]) {
      expect(body.error).toMatchObject({ code: "conflict", message: created.body.message });
    }
  });

  it("supersedes queued deployments, and with the queue fifo waits for them", async () => {
    const first = await shop.deploy({ queue: "fifo" });
    const second = await shop.deploy({ queue: "fifo" });
    const waiting = [await shop.read(first.id), await shop.read(second.id)].map(
      ({ status }) => status,
    );
    expect(waiting).toEqual(["queued", "queued"]);
    const offered = await Attempt.claim(shop.pool.runner);
    expect(offered.deploymentId).toBe(first.id);
    const third = await shop.deploy();
    expect((await shop.read(first.id)).data.stacks[0].status).toBe("skipped");
    expect((await shop.read(second.id)).status).toBe("superseded");
    const late = await offered.post("start");
    expect([late.status, late.headers.get("deployment-desired")]).toEqual([409, "stop"]);
    expect((await Attempt.claim(shop.pool.runner)).deploymentId).toBe(third.id);
  });
});

describe("a cancellation", () => {
  it("ends a queued deployment at once, offered or not, and is idempotent", async () => {
    const { id } = await shop.deploy();
    const offered = await Attempt.claim(shop.pool.runner);
    const first = await cancel(id);
    expect(first.body).toMatchObject({
      status: "canceled",
      data: { stacks: [{ status: "canceled" }] },
    });
    expect((await cancel(id)).body).toEqual(first.body);
    expect((await offered.post("start")).status).toBe(409);
  });

  it("asks the runner to cancel, and the deployment ends canceled with any outcome", async () => {
    const { id } = await shop.deploy();
    const attempt = await shop.start();
    expect((await cancel(id)).body.status).toBe("canceling");
    expect((await attempt.post("heartbeat")).body.desired).toBe("cancel");
    expect((await attempt.complete("failed")).status).toBe(200);
    expect((await cancel(id)).body.status).toBe("canceled");
  });
});

describe("the records of a deployment", () => {
  it("cannot be deleted until it has ended, and then are deleted with the project", async () => {
    const { id } = await shop.deploy();
    for (const path of [`/v1/projects/${shop.project.id}`, `/v1/stacks/${stackId}`]) {
      expect((await shop.world.client.delete(path)).status).toBe(409);
    }
    expect((await shop.world.client.get(`${shop.environment}/variables`)).body.data).toHaveLength(
      1,
    );
    const attempt = await shop.start();
    const path = `/v1/orgs/${shop.world.id}/runner-pools/${shop.pool.id}`;
    expect((await shop.world.client.delete(path)).status).toBe(409);
    await attempt.complete("failed");
    expect((await shop.world.client.delete(`/v1/stacks/${stackId}`)).status).toBe(204);
    expect((await shop.read(id)).stack_ids).toEqual([stackId]);
    expect((await shop.world.client.delete(`/v1/projects/${shop.project.id}`)).status).toBe(204);
    expect((await shop.world.client.get(`/v1/deployments/${id}`)).status).toBe(404);
    expect((await shop.world.client.delete(path)).status).toBe(204);
  });
});

describe("a disconnection", () => {
  const status = async () =>
    (await shop.world.client.get(`/v1/projects/${shop.project.id}`)).body.connection_status;
  const disconnect = () => shop.world.client.patch(`/v1/projects/${shop.project.id}/disconnect`);

  it("cancels every active deployment, and is complete when the last one has ended", async () => {
    const running = await shop.deploy();
    const attempt = await shop.start();
    const waiting = await shop.deploy();
    expect((await disconnect()).status).toBe(204);
    expect((await shop.read(running.id)).status).toBe("canceling");
    expect((await shop.read(waiting.id)).status).toBe("canceled");
    expect(await status()).toBe("disconnecting");
    expect((await disconnect()).status).toBe(204);
    const again = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
    const connection = `/v1/projects/${shop.project.id}/connection`;
    expect((await shop.world.client.put(connection, again)).status).toBe(409);
    await attempt.complete("canceled");
    expect(await status()).toBe("disconnected");
    expect((await shop.world.client.put(connection, again)).status).toBe(200);
  });

  it("is complete at once if no deployment is running", async () => {
    await shop.deploy();
    await disconnect();
    expect(await status()).toBe("disconnected");
    expect((await claim(shop.pool.runner)).status).toBe(204);
  });
});

describe("lists of deployments", () => {
  it("filter by one or more statuses, and show a member only their own projects", async () => {
    const canceled = await shop.deploy();
    await cancel(canceled.id);
    const queued = await shop.deploy();
    const ids = async (path: string, client = shop.world.client) =>
      (await client.get(path)).body.data.map(({ id }: Parsed) => id);
    const person = await join(shop.world);
    for (const path of [
      "/v1/deployments",
      `${shop.environment}/deployments`,
      `/v1/stacks/${stackId}/deployments`,
    ]) {
      expect(await ids(path)).toEqual([queued.id, canceled.id]);
      expect(await ids(`${path}?status=queued`)).toEqual([queued.id]);
      expect(await ids(`${path}?status=queued,canceled&sort_by=created_at`)).toEqual([
        canceled.id,
        queued.id,
      ]);
      const nearlyAll = "queued,in_progress,canceling,succeeded,failed,superseded";
      expect(await ids(`${path}?status=${nearlyAll}`)).toEqual([queued.id]);
      expect((await shop.world.client.get(`${path}?status=none`)).status).toBe(400);
    }
    expect(await ids("/v1/deployments", person.client)).toEqual([]);
    await shop.world.client.post(`/v1/projects/${shop.project.id}/members`, {
      member_ids: [person.membershipId],
    });
    expect(await ids("/v1/deployments", person.client)).toEqual([queued.id, canceled.id]);
    expect((await person.client.patch(`/v1/deployments/${queued.id}/cancel`)).status).toBe(403);
  });

  it("are empty for a narrowed key once its member is removed from the project", async () => {
    const { id } = await shop.deploy();
    const { membershipId } = await join(shop.world);
    const member = { membershipId, role: "member", projectIds: [shop.project.id] } as const;
    const callers = [
      (await newKey(shop.world, member)).client,
      (await newKey(shop.world, { ...member, environmentIds: [shop.environmentId] })).client,
    ];
    const lists = () =>
      Promise.all(
        callers.map(async (client) =>
          (await client.get("/v1/deployments")).body.data.map((each: Parsed) => each.id),
        ),
      );
    const members = `/v1/projects/${shop.project.id}/members`;
    await shop.world.client.post(members, { member_ids: [membershipId] });
    expect(await lists()).toEqual([[id], [id]]);
    expect((await shop.world.client.delete(`${members}/${membershipId}`)).status).toBe(204);
    expect(await lists()).toEqual([[], []]);
  });

  it("do not find a deployment in another environment", async () => {
    const { id } = await shop.deploy();
    const other = await newProject(shop.world.client);
    const elsewhere = `/v1/environments/${other.default_environment_id}`;
    expect((await shop.world.client.get(`${shop.environment}/deployments/${id}`)).body.id).toBe(id);
    expect((await shop.world.client.get(`${elsewhere}/deployments/${id}`)).status).toBe(404);
    expect((await shop.world.client.get("/v1/deployments/nonsense")).status).toBe(404);
  });
});

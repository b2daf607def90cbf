import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newKey,
  newPool,
  newProject,
  newStack,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let environment: string;
let stackId: string;
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  environmentId = project.default_environment_id;
  environment = `/v1/environments/${environmentId}`;
  stackId = String((await newInside(world.client, environmentId))["stack_id"]);
  await connect(world.client, project.id);
  pool = await newPool(world, [environmentId]);
});

const deploy = (body: object = {}) => newDeployment(world.client, environmentId, body);
const read = async (id: string) => (await world.client.get(`/v1/deployments/${id}`)).body;
const configuration = async () => (await world.client.get(environment)).body.configuration;
const cancel = (id: string) => world.client.patch(`/v1/deployments/${id}/cancel`);

/** Claims the next deployment, and completes it successfully. */
async function succeed(): Promise<Attempt> {
  const attempt = await Attempt.started(pool.runner);
  expect((await attempt.succeed()).status).toBe(200);
  return attempt;
}

describe("a deployment", () => {
  it("changes the configuration when it succeeds, and not before", async () => {
    const created = await deploy({ patch: [{ op: "add", path: "/replicas", value: 3 }] });
    expect(created).toMatchObject({
      status: "queued",
      stack_ids: [stackId],
      data: {
        patch: [{ op: "add", path: "/replicas", value: 3 }],
        stacks: [{ id: stackId, status: "pending" }],
      },
    });
    expect(await configuration()).toEqual({});
    await succeed();
    expect(await configuration()).toEqual({ replicas: 3 });
    const done = await read(created.id);
    expect(done).toMatchObject({
      status: "succeeded",
      data: { stacks: [{ status: "succeeded" }] },
    });
    expect(Object.keys(done)).toEqual(expect.arrayContaining(["started_at", "finished_at"]));
  });

  it("records the old value of each operation, and evaluates tests", async () => {
    await deploy({ patch: [{ op: "add", path: "/a", value: { b: [1, 2] } }] });
    await succeed();
    const patch = [
      { op: "test", path: "/a/b/0", value: 1 },
      { op: "replace", path: "/a/b/0", value: 9 },
      { op: "move", from: "/a/b", path: "/c" },
      { op: "remove", path: "/a" },
    ];
    const { data } = await deploy({ patch });
    expect(data.patch.map((each: Parsed) => each.old_value)).toEqual([undefined, 1, undefined, {}]);
  });

  it.each([
    [[{ op: "remove", path: "/none" }], "patch.0"],
    [
      [
        { op: "add", path: "/a", value: 1 },
        { op: "test", path: "/a", value: 2 },
      ],
      "patch.1",
    ],
    [[{ op: "add", path: "/__proto__/x", value: 1 }], "patch.0"],
    [[{ op: "add", path: "/constructor/x", value: 1 }], "patch.0"],
    [[{ op: "add", path: "", value: [] }], "patch.0"],
    [[{ op: "add", path: "a", value: 1 }], "patch.0"],
    [[{ op: "add", path: "/a" }], "patch.0.value"],
    [[{ op: "move", path: "/a" }], "patch.0.from"],
    [[{ op: "add", path: "/a", value: "x".repeat(256 * 1024) }], "patch"],
  ])("cannot have the invalid patch %#, and the error names the operation", async (patch, path) => {
    const reply = await world.client.post(`${environment}/deployments`, { patch });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe(path);
  });

  it("cannot have a patch that copies without bound", async () => {
    const patch = [
      { op: "add", path: "/a", value: ["x".repeat(1_000)] },
      ...Array.from({ length: 60 }, () => ({ op: "copy", from: "/a", path: "/a/0" })),
    ];
    const reply = await world.client.post(`${environment}/deployments`, { patch });
    expect(reply.body.code).toBe("bad_input");
  });

  it("keeps a source that matches the schema, and refuses any other", async () => {
    const person = { login: "mona" };
    const git = {
      commit: { author: person, committer: {}, message: "Scale", sha: "abc" },
      installation_id: "1",
      owner: "acme",
      provider: "github",
      ref: "main",
      repo: "shop",
      repo_id: "2",
    };
    const source = { git, registry: { image: "shop:1", command: ["run"] } };
    expect((await deploy({ source })).data.source).toEqual(source);
    const { repo: _, ...without } = git;
    const wrong = await world.client.post(`${environment}/deployments`, {
      source: { git: without },
    });
    expect(wrong.body.cause.issues[0].path).toBe("source.git.repo");
  });

  it("is refused once somebody has disconnected the project, but not before it is connected", async () => {
    const other = await newProject(world.client);
    const path = `/v1/projects/${other.id}`;
    const there = `/v1/environments/${other.default_environment_id}/deployments`;
    await newStack(world.client, other.default_environment_id);
    const create = () => world.client.post(there, {});
    expect((await create()).status).toBe(201);
    expect((await world.client.patch(`${path}/disconnect`)).status).toBe(204);
    const refused = await create();
    expect(refused.status).toBe(409);
    const { display_name } = (await world.client.get("/v1/account")).body;
    expect(refused.body.message).toMatch(
      / has disconnected the project at 20.+Z\. Connect it first\.$/,
    );
    expect(refused.body.message.startsWith(display_name)).toBe(true);
    const [ended] = (await world.client.get(there)).body.data;
    const preview = await world.client.get(`/v1/deployments/${ended.id}/redeployment`);
    expect(preview.body.error.message).toBe(refused.body.message);
    await connect(world.client, other.id);
    expect((await create()).status).toBe(201);
  });

  it("has stacks of its environment only", async () => {
    const other = await newProject(world.client);
    const there = `/v1/environments/${other.default_environment_id}/deployments`;
    expect((await world.client.post(there, { stack_ids: [stackId] })).status).toBe(404);
    const own = await newStack(world.client, other.default_environment_id);
    expect((await world.client.post(there, { stack_ids: [stackId, own] })).status).toBe(404);
    expect((await world.client.post(there, { stack_ids: [own] })).body.stack_ids).toEqual([own]);
  });

  it("without stacks is a conflict, however it would be created, and so is its preview", async () => {
    const { id } = await deploy();
    await succeed();
    const { body: empty } = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name: "empty",
    });
    const there = `/v1/environments/${empty.id}/deployments`;
    const created = await world.client.post(there, {});
    const chosen = await world.client.post(`${environment}/deployments`, { stack_ids: [] });
    const promotion = { environment_id: empty.id };
    const promoted = await world.client.post(`/v1/deployments/${id}/promote`, promotion);
    const promotionPreview = await world.client.get(`/v1/deployments/${id}/promotion/${empty.id}`);
    const other = await newStack(world.client, empty.id);
    expect((await world.client.post(there, {})).body.stack_ids).toEqual([other]);
    expect((await world.client.delete(`/v1/stacks/${stackId}`)).status).toBe(204);
    const redeployed = await world.client.post(`/v1/deployments/${id}/redeploy`, undefined);
    const preview = await world.client.get(`/v1/deployments/${id}/redeployment`);
    for (const { status, body } of [created, chosen, promoted, redeployed]) {
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.message).toContain("has no stacks. Create a stack in the environment first.");
    }
    for (const { body } of [promotionPreview, preview]) {
      expect(body.error).toMatchObject({ code: "conflict", message: created.body.message });
    }
  });

  it("supersedes queued deployments, and with the queue fifo waits for them", async () => {
    const first = await deploy({ queue: "fifo" });
    const second = await deploy({ queue: "fifo" });
    const waiting = [await read(first.id), await read(second.id)].map(({ status }) => status);
    expect(waiting).toEqual(["queued", "queued"]);
    const offered = await Attempt.claim(pool.runner);
    expect(offered.deploymentId).toBe(first.id);
    const third = await deploy();
    expect((await read(first.id)).data.stacks[0].status).toBe("skipped");
    expect((await read(second.id)).status).toBe("superseded");
    const late = await offered.post("start");
    expect([late.status, late.headers.get("deployment-desired")]).toEqual([409, "stop"]);
    expect((await Attempt.claim(pool.runner)).deploymentId).toBe(third.id);
  });

  it("is redeployed, rolled back and promoted as a new deployment", async () => {
    const first = await deploy({ patch: [{ op: "add", path: "/v", value: 1 }] });
    await succeed();
    await deploy({ patch: [{ op: "replace", path: "/v", value: 2 }] });
    await succeed();
    const back = await world.client.post(`/v1/deployments/${first.id}/redeploy`, undefined);
    expect(back.body.data.patch).toEqual([{ op: "replace", path: "/v", value: 1, old_value: 2 }]);
    await succeed();
    expect(await configuration()).toEqual({ v: 1 });
    const staging = (
      await world.client.post(`/v1/projects/${project.id}/environments`, { name: "staging" })
    ).body;
    const there = await newStack(world.client, staging.id);
    const promotion = { environment_id: staging.id };
    const promoted = await world.client.post(`/v1/deployments/${first.id}/promote`, promotion);
    expect(promoted.body).toMatchObject({ environment_id: staging.id, stack_ids: [there] });
    const early = await world.client.post(`/v1/deployments/${promoted.body.id}/promote`, promotion);
    expect(early.status).toBe(409);
  });
});

describe("a cancellation", () => {
  it("ends a queued deployment at once, offered or not, and is idempotent", async () => {
    const { id } = await deploy();
    const offered = await Attempt.claim(pool.runner);
    const first = await cancel(id);
    expect(first.body).toMatchObject({
      status: "canceled",
      data: { stacks: [{ status: "canceled" }] },
    });
    expect((await cancel(id)).body).toEqual(first.body);
    expect((await offered.post("start")).status).toBe(409);
  });

  it("asks the runner to cancel, and the deployment ends canceled with any outcome", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(pool.runner);
    expect((await cancel(id)).body.status).toBe("canceling");
    expect((await attempt.post("heartbeat")).body.desired).toBe("cancel");
    expect((await attempt.complete("failed")).status).toBe(200);
    expect((await cancel(id)).body.status).toBe("canceled");
  });

  it("is a conflict for a deployment that has succeeded", async () => {
    const { id } = await deploy();
    await succeed();
    expect((await cancel(id)).status).toBe(409);
  });
});

describe("the records of a deployment", () => {
  it("cannot be deleted until it has ended, and then are deleted with the project", async () => {
    const { id } = await deploy();
    for (const path of [`/v1/projects/${project.id}`, `/v1/stacks/${stackId}`]) {
      expect((await world.client.delete(path)).status).toBe(409);
    }
    expect((await world.client.get(`${environment}/variables`)).body.data).toHaveLength(1);
    const attempt = await Attempt.started(pool.runner);
    const path = `/v1/orgs/${world.id}/runner-pools/${pool.id}`;
    expect((await world.client.delete(path)).status).toBe(409);
    await attempt.complete("failed");
    expect((await world.client.delete(`/v1/stacks/${stackId}`)).status).toBe(204);
    expect((await read(id)).stack_ids).toEqual([stackId]);
    expect((await world.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    expect((await world.client.get(`/v1/deployments/${id}`)).status).toBe(404);
    expect((await world.client.delete(path)).status).toBe(204);
  });
});

describe("a disconnection", () => {
  const status = async () =>
    (await world.client.get(`/v1/projects/${project.id}`)).body.connection_status;
  const disconnect = () => world.client.patch(`/v1/projects/${project.id}/disconnect`);

  it("cancels every active deployment, and is complete when the last one has ended", async () => {
    const running = await deploy();
    const attempt = await Attempt.started(pool.runner);
    const waiting = await deploy();
    expect((await disconnect()).status).toBe(204);
    expect((await read(running.id)).status).toBe("canceling");
    expect((await read(waiting.id)).status).toBe("canceled");
    expect(await status()).toBe("disconnecting");
    expect((await disconnect()).status).toBe(204);
    const again = { provider: "aws", account_id: "123456789012", region: "eu-central-1" };
    const connection = `/v1/projects/${project.id}/connection`;
    expect((await world.client.put(connection, again)).status).toBe(409);
    await attempt.complete("canceled");
    expect(await status()).toBe("disconnected");
    expect((await world.client.put(connection, again)).status).toBe(200);
  });

  it("is complete at once if no deployment is running", async () => {
    await deploy();
    await disconnect();
    expect(await status()).toBe("disconnected");
    expect((await claim(pool.runner)).status).toBe(204);
  });
});

describe("lists of deployments", () => {
  it("filter by one or more statuses, and show a member only their own projects", async () => {
    const canceled = await deploy();
    await cancel(canceled.id);
    const queued = await deploy();
    const ids = async (path: string, client = world.client) =>
      (await client.get(path)).body.data.map(({ id }: Parsed) => id);
    const person = await join(world);
    for (const path of [
      "/v1/deployments",
      `${environment}/deployments`,
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
      expect((await world.client.get(`${path}?status=none`)).status).toBe(400);
    }
    expect(await ids("/v1/deployments", person.client)).toEqual([]);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [person.membershipId],
    });
    expect(await ids("/v1/deployments", person.client)).toEqual([queued.id, canceled.id]);
    expect((await person.client.patch(`/v1/deployments/${queued.id}/cancel`)).status).toBe(403);
  });

  it("are empty for a narrowed key once its member is removed from the project", async () => {
    const { id } = await deploy();
    const { membershipId } = await join(world);
    const member = { membershipId, role: "member", projectIds: [project.id] } as const;
    const callers = [
      (await newKey(world, member)).client,
      (await newKey(world, { ...member, environmentIds: [environmentId] })).client,
    ];
    const lists = () =>
      Promise.all(
        callers.map(async (client) =>
          (await client.get("/v1/deployments")).body.data.map((each: Parsed) => each.id),
        ),
      );
    const members = `/v1/projects/${project.id}/members`;
    await world.client.post(members, { member_ids: [membershipId] });
    expect(await lists()).toEqual([[id], [id]]);
    expect((await world.client.delete(`${members}/${membershipId}`)).status).toBe(204);
    expect(await lists()).toEqual([[], []]);
  });

  it("do not find a deployment in another environment", async () => {
    const { id } = await deploy();
    const other = await newProject(world.client);
    const elsewhere = `/v1/environments/${other.default_environment_id}`;
    expect((await world.client.get(`${environment}/deployments/${id}`)).body.id).toBe(id);
    expect((await world.client.get(`${elsewhere}/deployments/${id}`)).status).toBe(404);
    expect((await world.client.get("/v1/deployments/nonsense")).status).toBe(404);
    const rows = await env.DB.prepare("select count(*) as n from deployments where id = ?")
      .bind(id)
      .first("n");
    expect(rows).toBe(1);
  });
});

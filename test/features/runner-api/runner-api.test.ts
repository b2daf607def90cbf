import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { Attempt, claim } from "../../support/runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let stackId: string;
let pool: Pool;
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
  stackId = String((await newInside(world.client, environmentId))["stack_id"]);
  await connect(world.client, project.id);
  pool = await newPool(world, [environmentId]);
  runner = pool.runner.via(worker.fetch);
});

const deploy = (body: object = {}) => newDeployment(world.client, environmentId, body);
const read = async (id: string) => (await world.client.get(`/v1/deployments/${id}`)).body;
const desired = (reply: { headers: Headers }) => reply.headers.get("deployment-desired");

describe("a claim", () => {
  it("gives an attempt, and the same attempt for the same request", async () => {
    const { id } = await deploy();
    const first = await claim(runner, "a");
    expect(first.body).toMatchObject({
      epoch: 1,
      deployment: { id, status: "queued" },
      variable_names: ["A"],
      start_within_seconds: 60,
      heartbeat_every_seconds: 15,
      lease_seconds: 60,
    });
    expect(desired(first)).toBe("continue");
    expect((await claim(runner, "a")).body).toEqual(first.body);
    const other = await claim(runner, "b");
    expect([other.status, other.headers.get("retry-after")]).toEqual([204, "5"]);
    expect(desired(other)).toBe("continue");
  });

  it("of one deployment gets no other, waits for its turn, and is a conflict once it has ended", async () => {
    const [first, second] = [await deploy({ queue: "fifo" }), await deploy({ queue: "fifo" })];
    const claimOne = (id: string, request?: string) =>
      claim(runner, request, { deployment_id: id });
    const early = await claimOne(second.id);
    expect([early.status, early.headers.get("retry-after")]).toEqual([204, "5"]);
    const offered = await claimOne(first.id, "mine");
    expect(offered.body.deployment.id).toBe(first.id);
    expect((await claimOne(first.id, "mine")).body).toEqual(offered.body);
    expect((await claimOne(first.id)).status).toBe(204);
    const attempt = new Attempt(runner, offered.body);
    await attempt.post("start");
    expect((await claimOne(first.id)).status).toBe(204);
    expect((await claimOne(second.id)).status).toBe(204);
    await attempt.complete("failed");
    const ended = await claimOne(first.id);
    expect([ended.status, desired(ended), ended.body]).toMatchObject([
      409,
      "stop",
      {
        code: "conflict",
        message: expect.stringContaining("it is failed"),
        cause: { status: "failed" },
      },
    ]);
    expect((await claimOne(second.id)).body.deployment.id).toBe(second.id);
  });

  it("of one deployment finds none of another pool, nor one that does not exist", async () => {
    const { id } = await deploy();
    const elsewhere = await newProject(world.client);
    const other = (await newPool(world, [elsewhere.default_environment_id])).runner;
    const missing = newId(systemClock);
    for (const [as, wanted] of [
      [other, id],
      [runner, missing],
    ] as const) {
      const reply = await claim(as, undefined, { deployment_id: wanted });
      expect([reply.status, reply.body.code]).toEqual([404, "not_found"]);
    }
    expect((await claim(runner, undefined, { deployment_id: "7" })).status).toBe(400);
    expect((await claim(runner, undefined, { deployment_id: id })).status).toBe(200);
  });

  it("finds no deployment and no attempt of another pool", async () => {
    await deploy();
    const elsewhere = await newProject(world.client);
    const other = (await newPool(world, [elsewhere.default_environment_id])).runner;
    expect((await claim(other)).status).toBe(204);
    const { claimed } = await Attempt.claim(runner);
    const reply = await new Attempt(other, claimed).post("start");
    expect([reply.status, desired(reply)]).toEqual([404, "stop"]);
  });

  it("lapses without a start within 60 s, and the deployment is offered again", async () => {
    await deploy();
    const late = await Attempt.claim(runner);
    now += 60_000;
    const next = await Attempt.claim(runner);
    expect(next.deploymentId).toBe(late.deploymentId);
    expect(next.claimed.epoch).toBe(2);
    for (const verb of ["start", "heartbeat"]) {
      const reply = await late.post(verb);
      expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    }
  });

  it("can be released before the start, and the deployment is offered again at once", async () => {
    await deploy();
    const given = await Attempt.claim(runner);
    expect((await given.post("release")).status).toBe(200);
    expect((await given.post("release")).status).toBe(200);
    const next = await Attempt.started(runner);
    expect(next.deploymentId).toBe(given.deploymentId);
    const refused = await next.post("release");
    expect([refused.status, desired(refused)]).toEqual([409, "continue"]);
  });

  it("requires its own lease token", async () => {
    await deploy();
    const { claimed } = await Attempt.claim(runner);
    for (const lease_token of ["", "0".repeat(64)]) {
      const reply = await new Attempt(runner, { ...claimed, lease_token }).post("start");
      expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    }
    expect((await new Attempt(runner, claimed).post("start")).status).toBe(200);
  });
});

describe("a live runner", () => {
  const LOST_MS = 360_000;

  it("is never lost while it sends heartbeats, however long it runs", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(runner);
    for (let seq = 1; seq <= 10; seq += 1) {
      now += LOST_MS - 1;
      const heartbeat = await attempt.post("heartbeat");
      expect([heartbeat.status, heartbeat.body.desired]).toEqual([200, "continue"]);
      await worker.sweep();
      expect((await claim(runner)).status).toBe(204);
      expect((await attempt.report(stackId, { seq, status: "in_progress" })).status).toBe(200);
      expect((await attempt.variables()).status).toBe(200);
      expect((await read(id)).status).toBe("in_progress");
    }
    now += LOST_MS - 1;
    await attempt.report(stackId, { seq: 11, status: "succeeded" });
    expect((await attempt.complete("succeeded")).body.status).toBe("succeeded");
  });

  it("is lost 360 s after its last heartbeat, not after its start", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(runner);
    now += LOST_MS - 1;
    await attempt.post("heartbeat");
    now += LOST_MS - 1;
    await worker.sweep();
    expect((await read(id)).status).toBe("in_progress");
    now += 1;
    await worker.sweep();
    expect((await read(id)).status).toBe("failed");
    const refused = await attempt.post("heartbeat");
    expect([refused.status, desired(refused)]).toEqual([409, "stop"]);
  });

  it("reads variables until 60 s after its last heartbeat, and the audit log has no others", async () => {
    await deploy();
    const attempt = await Attempt.started(runner);
    now += 59_999;
    await attempt.post("heartbeat");
    now += 59_999;
    expect((await attempt.variables()).status).toBe(200);
    now += 1;
    expect((await attempt.variables()).status).toBe(409);
    const { attempt_id } = attempt.claimed;
    const delivered = "select count(*) as n from audit_log where target_id = ? and action like ?";
    expect(await env.DB.prepare(delivered).bind(attempt_id, "variables.%").first("n")).toBe(1);
  });

  it("renews its own attempt only", async () => {
    await deploy();
    const silent = await Attempt.started(runner);
    const path = `/v1/projects/${project.id}/environments`;
    const { body: staging } = await world.client.post(path, { name: "staging" });
    const second = await newPool(world, [staging.id]);
    const { id } = await newDeployment(world.client, staging.id);
    const live = await Attempt.started(second.runner.via(worker.fetch));
    now += LOST_MS - 1;
    await live.post("heartbeat");
    now += 1;
    await worker.sweep();
    expect((await read(silent.deploymentId)).status).toBe("failed");
    expect((await read(id)).status).toBe("in_progress");
  });
});

describe("a silent runner", () => {
  it("is stale after 60 s, and reads variables only after a heartbeat", async () => {
    await deploy();
    const attempt = await Attempt.started(runner);
    now += 359_999;
    const refused = await attempt.variables();
    expect([refused.status, desired(refused)]).toEqual([409, "continue"]);
    expect((await attempt.post("heartbeat")).body.desired).toBe("continue");
    expect((await attempt.variables()).status).toBe(200);
  });

  it("is lost after 360 s, changes nothing before the sweep, and its deployment fails", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(runner);
    await attempt.report(stackId, { seq: 1, status: "in_progress" });
    now += 360_000;
    const answers = [
      await attempt.post("heartbeat"),
      await attempt.report(stackId, { seq: 2, status: "succeeded" }),
      await attempt.complete("succeeded"),
    ];
    for (const reply of answers) expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    expect((await read(id)).status).toBe("in_progress");
    expect((await claim(runner)).status).toBe(204);
    expect(await read(id)).toMatchObject({
      status: "failed",
      data: { stacks: [{ status: "failed", status_reason: "runner_lost" }] },
    });
  });

  it("leaves its pending stacks skipped, with the reason", async () => {
    const { id } = await deploy();
    await Attempt.started(runner);
    now += 360_000;
    await claim(runner);
    const { data } = await read(id);
    expect(data.stacks).toMatchObject([{ status: "skipped", status_reason: "runner_lost" }]);
  });

  it("leaves a canceling deployment canceled after 120 s", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(runner);
    await world.client.patch(`/v1/deployments/${id}/cancel`);
    now += 119_999;
    await claim(runner);
    expect((await read(id)).status).toBe("canceling");
    now += 1;
    await claim(runner);
    expect((await read(id)).status).toBe("canceled");
    expect(desired(await attempt.post("heartbeat"))).toBe("stop");
  });
});

describe("the environments of a pool", () => {
  const newEnvironment = async (name: string) => {
    now += 1;
    const path = `/v1/projects/${project.id}/environments`;
    return String((await world.client.post(path, { name })).body.id);
  };

  it("are served in the order of their oldest deployments", async () => {
    const ids = [environmentId, await newEnvironment("b"), await newEnvironment("c")];
    const { runner: shared } = await newPool(world, ids);
    const serving = shared.via(worker.fetch);
    const [a = "", b = "", c = ""] = ids;
    const created: string[] = [];
    // The newest environment first, and a second deployment of it that has to wait for the first.
    for (const id of [c, c, a, b]) {
      now += 1;
      created.push((await newDeployment(world.client, id, { queue: "fifo" })).id);
    }
    const [firstOfC, secondOfC, ofA, ofB] = created;
    const attempts = [
      await Attempt.started(serving),
      await Attempt.started(serving),
      await Attempt.started(serving),
    ];
    expect(attempts.map((each) => each.deploymentId)).toEqual([firstOfC, ofA, ofB]);
    expect((await claim(serving)).status).toBe(204);
    await attempts[0]?.complete("failed");
    expect((await Attempt.claim(serving)).deploymentId).toBe(secondOfC);
  });

  it("are served in the order of the deployments' IDs if these are equally old", async () => {
    const ids = [environmentId, await newEnvironment("b"), await newEnvironment("c")];
    const { runner: shared } = await newPool(world, ids);
    const created: string[] = [];
    for (const id of ids.toReversed()) created.push((await newDeployment(world.client, id)).id);
    const claimed: string[] = [];
    for (const _ of ids) {
      claimed.push((await Attempt.started(shared.via(worker.fetch))).deploymentId);
    }
    expect(claimed).toEqual(created.toSorted());
  });
});

describe("the attempts of a runner", () => {
  it.each(["+created_at", "-created_at"])(
    "are listed in pages, each once, also if they were claimed at the same time (%s)",
    async (order) => {
      const environments = `/v1/projects/${project.id}/environments`;
      const ids = [environmentId];
      for (const name of ["b", "c", "d"]) {
        ids.push((await world.client.post(environments, { name })).body.id);
      }
      for (const id of ids.toReversed()) {
        now += 1;
        await newDeployment(world.client, id);
      }
      const shared = (await newPool(world, ids)).runner.via(worker.fetch);
      const claimed: string[] = [];
      for (const _ of ids) claimed.push((await Attempt.claim(shared)).claimed.attempt_id);
      const list = `/v1/runner/attempts?sort_by=${encodeURIComponent(order)}`;
      const listed: string[] = [];
      for (let after = ""; listed.length <= ids.length; ) {
        const { body } = await shared.get(`${list}&limit=1${after}`);
        listed.push(...body.data.map(({ attempt_id }: Parsed) => attempt_id));
        if (!body.has_more) break;
        after = `&after=${body.next_page}`;
      }
      const ascending = claimed.toSorted();
      expect(listed).toEqual(order === "+created_at" ? ascending : ascending.toReversed());
    },
  );
});

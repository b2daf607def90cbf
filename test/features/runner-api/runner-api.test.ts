import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Attempt, claim } from "../../support/runner.ts";
import { useTimedShop } from "../../support/shop.ts";
import { newDeployment, newInside, newPool, newProject, newStack } from "../../support/world.ts";

const shop = useTimedShop();
let stackId: string;

beforeEach(async () => {
  stackId = String((await newInside(shop.world.client, shop.environmentId))["stack_id"]);
});

const desired = (reply: { headers: Headers }) => reply.headers.get("deployment-desired");

describe("a claim", () => {
  it("gives an attempt, and the same attempt for the same request", async () => {
    const { id } = await shop.deploy();
    const first = await claim(shop.runner, "a");
    expect(first.body).toMatchObject({
      epoch: 1,
      deployment: { id, status: "queued" },
      variable_names: ["A"],
      start_within_seconds: 60,
      heartbeat_every_seconds: 15,
      lease_seconds: 60,
    });
    expect(desired(first)).toBe("continue");
    expect((await claim(shop.runner, "a")).body).toEqual(first.body);
    const other = await claim(shop.runner, "b");
    expect([other.status, other.headers.get("retry-after")]).toEqual([204, "5"]);
    expect(desired(other)).toBe("continue");
  });

  it("of one deployment gets no other, waits for its turn, and is a conflict once it has ended", async () => {
    const [first, second] = [
      await shop.deploy({ queue: "fifo" }),
      await shop.deploy({ queue: "fifo" }),
    ];
    const claimOne = (id: string, request?: string) =>
      claim(shop.runner, request, { deployment_id: id });
    const early = await claimOne(second.id);
    expect([early.status, early.headers.get("retry-after")]).toEqual([204, "5"]);
    const offered = await claimOne(first.id, "mine");
    expect(offered.body.deployment.id).toBe(first.id);
    expect((await claimOne(first.id, "mine")).body).toEqual(offered.body);
    expect((await claimOne(first.id)).status).toBe(204);
    const attempt = new Attempt(shop.runner, offered.body);
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
    const { id } = await shop.deploy();
    const elsewhere = await newProject(shop.world.client);
    const other = (await newPool(shop.world, [elsewhere.default_environment_id])).runner;
    const missing = newId(systemClock);
    for (const [as, wanted] of [
      [other, id],
      [shop.runner, missing],
    ] as const) {
      const reply = await claim(as, undefined, { deployment_id: wanted });
      expect([reply.status, reply.body.code]).toEqual([404, "not_found"]);
    }
    expect((await claim(shop.runner, undefined, { deployment_id: "7" })).status).toBe(400);
    expect((await claim(shop.runner, undefined, { deployment_id: id })).status).toBe(200);
  });

  it("finds no deployment and no attempt of another pool", async () => {
    await shop.deploy();
    const elsewhere = await newProject(shop.world.client);
    const other = (await newPool(shop.world, [elsewhere.default_environment_id])).runner;
    expect((await claim(other)).status).toBe(204);
    const { claimed } = await Attempt.claim(shop.runner);
    const reply = await new Attempt(other, claimed).post("start");
    expect([reply.status, desired(reply)]).toEqual([404, "stop"]);
  });

  it("lapses without a start within 60 s, and the deployment is offered again", async () => {
    await shop.deploy();
    const late = await Attempt.claim(shop.runner);
    shop.now += 60_000;
    const next = await Attempt.claim(shop.runner);
    expect(next.deploymentId).toBe(late.deploymentId);
    expect(next.claimed.epoch).toBe(2);
    for (const verb of ["start", "heartbeat"]) {
      const reply = await late.post(verb);
      expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    }
  });

  it("can be released before the start, and the deployment is offered again at once", async () => {
    await shop.deploy();
    const given = await Attempt.claim(shop.runner);
    expect((await given.post("release")).status).toBe(200);
    expect((await given.post("release")).status).toBe(200);
    const next = await Attempt.started(shop.runner);
    expect(next.deploymentId).toBe(given.deploymentId);
    const refused = await next.post("release");
    expect([refused.status, desired(refused)]).toEqual([409, "continue"]);
  });

  it("requires its own lease token", async () => {
    await shop.deploy();
    const { claimed } = await Attempt.claim(shop.runner);
    for (const lease_token of ["", "0".repeat(64)]) {
      const reply = await new Attempt(shop.runner, { ...claimed, lease_token }).post("start");
      expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    }
    expect((await new Attempt(shop.runner, claimed).post("start")).status).toBe(200);
  });
});

describe("a live runner", () => {
  const LOST_MS = 360_000;

  it("is lost 360 s after its last heartbeat, not after its start", async () => {
    const { id } = await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    shop.now += LOST_MS - 1;
    await attempt.post("heartbeat");
    shop.now += LOST_MS - 1;
    await shop.worker.sweep();
    expect((await shop.read(id)).status).toBe("in_progress");
    shop.now += 1;
    await shop.worker.sweep();
    expect((await shop.read(id)).status).toBe("failed");
    const refused = await attempt.post("heartbeat");
    expect([refused.status, desired(refused)]).toEqual([409, "stop"]);
  });

  it("reads variables until 60 s after its last heartbeat, and the audit log has no others", async () => {
    await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    shop.now += 59_999;
    await attempt.post("heartbeat");
    shop.now += 59_999;
    expect((await attempt.variables()).status).toBe(200);
    shop.now += 1;
    const refused = await attempt.variables();
    expect([refused.status, desired(refused)]).toEqual([409, "continue"]);
    const { attempt_id } = attempt.claimed;
    expect((await attempt.post("heartbeat")).body.desired).toBe("continue");
    const delivered = "select count(*) as n from audit_log where target_id = ? and action like ?";
    expect(await env.DB.prepare(delivered).bind(attempt_id, "variables.%").first("n")).toBe(1);
  });

  it("renews its own attempt only", async () => {
    await shop.deploy();
    const silent = await Attempt.started(shop.runner);
    const path = `/v1/projects/${shop.project.id}/environments`;
    const { body: staging } = await shop.world.client.post(path, { name: "staging" });
    const second = await newPool(shop.world, [staging.id]);
    const { id } = await newDeployment(shop.world.client, staging.id);
    const live = await Attempt.started(second.runner.via(shop.worker.fetch));
    shop.now += LOST_MS - 1;
    await live.post("heartbeat");
    shop.now += 1;
    await shop.worker.sweep();
    expect((await shop.read(silent.deploymentId)).status).toBe("failed");
    expect((await shop.read(id)).status).toBe("in_progress");
  });
});

describe("a silent runner", () => {
  it("is lost after 360 s, changes nothing before the sweep, and its deployment fails", async () => {
    // So that its stack comes after the other one.
    shop.now += 1;
    await newStack(shop.world.client, shop.environmentId);
    const { id } = await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    await attempt.report(stackId, { seq: 1, status: "in_progress" });
    shop.now += 360_000;
    const answers = [
      await attempt.post("heartbeat"),
      await attempt.report(stackId, { seq: 2, status: "succeeded" }),
      await attempt.complete("succeeded"),
    ];
    for (const reply of answers) expect([reply.status, desired(reply)]).toEqual([409, "stop"]);
    expect((await shop.read(id)).status).toBe("in_progress");
    expect((await claim(shop.runner)).status).toBe(204);
    expect(await shop.read(id)).toMatchObject({
      status: "failed",
      data: {
        stacks: [
          { status: "failed", status_reason: "runner_lost" },
          { status: "skipped", status_reason: "runner_lost" },
        ],
      },
    });
  });

  it("leaves a canceling deployment canceled after 120 s", async () => {
    const { id } = await shop.deploy();
    const attempt = await Attempt.started(shop.runner);
    await shop.world.client.patch(`/v1/deployments/${id}/cancel`);
    shop.now += 119_999;
    await claim(shop.runner);
    expect((await shop.read(id)).status).toBe("canceling");
    shop.now += 1;
    await claim(shop.runner);
    expect((await shop.read(id)).status).toBe("canceled");
    expect(desired(await attempt.post("heartbeat"))).toBe("stop");
  });
});

describe("the environments of a pool", () => {
  const newEnvironment = async (name: string) => {
    shop.now += 1;
    const path = `/v1/projects/${shop.project.id}/environments`;
    return String((await shop.world.client.post(path, { name })).body.id);
  };

  it("are served in the order of their oldest deployments", async () => {
    const ids = [shop.environmentId, await newEnvironment("b"), await newEnvironment("c")];
    const { runner: shared } = await newPool(shop.world, ids);
    const serving = shared.via(shop.worker.fetch);
    const [a = "", b = "", c = ""] = ids;
    const created: string[] = [];
    // The newest environment first, and a second deployment of it that has to wait for the first.
    for (const id of [c, c, a, b]) {
      shop.now += 1;
      created.push((await newDeployment(shop.world.client, id, { queue: "fifo" })).id);
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
    const ids = [shop.environmentId, await newEnvironment("b"), await newEnvironment("c")];
    const { runner: shared } = await newPool(shop.world, ids);
    const created: string[] = [];
    for (const id of ids.toReversed())
      created.push((await newDeployment(shop.world.client, id)).id);
    const claimed: string[] = [];
    for (const _ of ids) {
      claimed.push((await Attempt.started(shared.via(shop.worker.fetch))).deploymentId);
    }
    expect(claimed).toEqual(created.toSorted());
  });
});

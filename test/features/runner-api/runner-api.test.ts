import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { issueRunnerToken } from "../../../src/features/identity/runner-tokens/credentials.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { listAuditLog } from "../../support/audit.ts";
import { newCanarySecret } from "../../support/canary-secrets.ts";
import { Client, type Parsed } from "../../support/client.ts";
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
/** Sorted by name, because resources of one report have the same time. */
const resources = async () => {
  const { body } = await world.client.get(`/v1/stacks/${stackId}/resources`);
  return body.data.toSorted((a: Parsed, b: Parsed) => (a.template_id < b.template_id ? -1 : 1));
};
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

describe("a report of a stack", () => {
  const bucket = {
    template_id: "Bucket",
    physical_id: "b-1",
    resource_type: "AWS::S3::Bucket",
    status: "CREATE_COMPLETE",
  };

  it("stores the resources, and marks omitted ones as deleted", async () => {
    await deploy();
    const attempt = await Attempt.started(runner);
    const queue = { ...bucket, template_id: "Queue", timestamp: "2026-01-01T00:00:00.000Z" };
    await attempt.report(stackId, { seq: 1, status: "in_progress", resources: [bucket, queue] });
    const before = await resources();
    expect(before.map((each: Parsed) => each.template_id)).toEqual(["Bucket", "Queue"]);
    expect(before[1].timestamp).toBe("2026-01-01T00:00:00.000Z");
    const updated = { ...bucket, status: "UPDATE_FAILED", status_reason: "No quota" };
    await attempt.report(stackId, { seq: 2, status: "failed", resources: [updated] });
    const after = await resources();
    expect(after).toMatchObject([
      { id: before[0].id, status: "UPDATE_FAILED", status_reason: "No quota" },
      { id: before[1].id, status: "DELETE_COMPLETE" },
    ]);
  });

  it("leaves the resources as they are if it does not include them", async () => {
    await deploy();
    const attempt = await Attempt.started(runner);
    const topic = { ...bucket, template_id: "Topic", status: "DELETE_FAILED" };
    await attempt.report(stackId, { seq: 1, status: "in_progress", resources: [bucket, topic] });
    const before = await resources();
    expect(before).toHaveLength(2);
    now += 1_000;
    for (const fields of [{ status: "in_progress" }, { status: "succeeded" }]) {
      const seq = fields.status === "succeeded" ? 3 : 2;
      expect((await attempt.report(stackId, { seq, ...fields })).status).toBe(200);
      expect(await resources()).toEqual(before);
    }
  });

  it("with an empty list marks all resources of its stack as deleted, and of no other", async () => {
    const otherId = String((await newInside(world.client, environmentId))["stack_id"]);
    await deploy();
    const attempt = await Attempt.started(runner);
    const gone = { ...bucket, template_id: "Gone", status: "DELETE_COMPLETE" };
    for (const id of [stackId, otherId]) {
      await attempt.report(id, { seq: 1, status: "in_progress", resources: [bucket, gone] });
    }
    const [, unchanged] = await resources();
    now += 1_000;
    await attempt.report(stackId, { seq: 2, status: "in_progress", resources: [] });
    expect(await resources()).toMatchObject([
      { status: "DELETE_COMPLETE", timestamp: new Date(now).toISOString() },
      unchanged,
    ]);
    const { body } = await world.client.get(`/v1/stacks/${otherId}/resources`);
    expect(body.data.map((each: Parsed) => each.status).toSorted()).toEqual([
      "CREATE_COMPLETE",
      "DELETE_COMPLETE",
    ]);
  });

  it("changes nothing if it is not newer, and is refused after the stack has ended", async () => {
    await deploy();
    const attempt = await Attempt.started(runner);
    const last = { seq: 5, status: "succeeded", resources: [bucket] };
    await attempt.report(stackId, last);
    const before = await resources();
    now += 1_000;
    const replays = [last, { seq: 4, status: "failed", resources: [] }];
    for (const body of replays) expect((await attempt.report(stackId, body)).status).toBe(200);
    expect(await resources()).toEqual(before);
    const newer = await attempt.report(stackId, { seq: 6, status: "failed" });
    expect([newer.status, desired(newer)]).toEqual([409, "continue"]);
  });
});

describe("a completion", () => {
  it("is idempotent, and refuses a different one", async () => {
    const { id } = await deploy();
    const attempt = await Attempt.started(runner);
    const body = { failure_reason: "exit_1", message: "It broke" };
    for (const _ of [1, 2]) expect((await attempt.complete("failed", body)).status).toBe(200);
    expect((await attempt.complete("failed")).status).toBe(409);
    expect((await attempt.complete("succeeded")).status).toBe(409);
    expect((await read(id)).status).toBe("failed");
  });

  it.each(["pending", "in_progress", "failed", "canceled"])(
    "with the outcome succeeded fails the deployment if a stack is %s",
    async (status) => {
      const { id } = await deploy();
      const attempt = await Attempt.started(runner);
      if (status !== "pending") await attempt.report(stackId, { seq: 1, status });
      await attempt.complete("succeeded");
      expect((await read(id)).status).toBe("failed");
    },
  );
});

describe("a completion with the outcome succeeded", () => {
  it.each([
    ["all succeeded", ["succeeded", "succeeded"], "succeeded"],
    ["all skipped", ["skipped", "skipped"], "succeeded"],
    ["succeeded or skipped", ["succeeded", "skipped"], "succeeded"],
    ["skipped, except one that failed", ["skipped", "failed"], "failed"],
    ["skipped, except one that is in progress", ["skipped", "in_progress"], "failed"],
    ["succeeded, except one that was never reported", ["succeeded", undefined], "failed"],
  ])("of stacks that are %s ends as its stacks allow", async (_, reported, status) => {
    const stackIds = [stackId, String((await newInside(world.client, environmentId))["stack_id"])];
    const { id } = await deploy({ stack_ids: stackIds });
    const attempt = await Attempt.started(runner);
    for (const [at, each] of reported.entries()) {
      if (each) await attempt.report(String(stackIds[at]), { seq: 1, status: each });
    }
    expect((await attempt.complete("succeeded")).body.status).toBe(status);
    expect((await read(id)).status).toBe(status);
  });
});

describe("the values of variables", () => {
  it("are delivered while the lease is fresh, and audited", async () => {
    const value = newCanarySecret();
    const path = `/v1/environments/${environmentId}/variables`;
    await world.client.post(path, { name: "SECRET", storage_method: "secret", value });
    await deploy();
    const attempt = await Attempt.claim(runner);
    expect((await attempt.variables()).status).toBe(409);
    await attempt.post("start");
    const reply = await attempt.variables();
    expect(reply.headers.get("cache-control")).toContain("no-store");
    const found = reply.body.variables.find((each: Parsed) => each.name === "SECRET");
    expect(found).toMatchObject({ storage_method: "secret", value });
    const [entry, ...others] = await listAuditLog(world, `&target=${attempt.claimed.attempt_id}`);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: "variables.delivered",
      outcome: "success",
      actor: {
        ...{ type: "runner_token", credential_id: pool.tokenId, pool_id: pool.id },
        name: expect.stringMatching(/^n-/),
      },
      target: { type: "attempt", id: attempt.claimed.attempt_id },
      request_id: reply.headers.get("x-request-id"),
    });
    expect(entry?.actor.created_by.membership_id).toBe(world.membershipId);
  });

  it("name their environment and component, beside the component of each stack of the deployment", async () => {
    const path = `/v1/environments/${environmentId}`;
    const post = async (rest: string, body: object) => (await world.client.post(rest, body)).body;
    const variable = (name: string, value: string) => ({ name, storage_method: "secret", value });
    const api = (await post(`${path}/components`, { name: "api", kind: "service" })).id;
    const jobs = (await post(`${path}/components`, { name: "jobs", kind: "worker" })).id;
    await post(`${path}/variables`, variable("WHO", "environment"));
    await post(`/v1/components/${api}/variables`, variable("WHO", "api"));
    await post(`/v1/components/${jobs}/variables`, variable("WHO", "jobs"));
    const stackOf = async (name: string, component_id?: string) =>
      (await post(`${path}/stacks`, { name, component_id })).id;
    const [first, second] = [await stackOf("first", jobs), await stackOf("second", api)];
    await stackOf("of-no-deployment", api);
    await deploy({ stack_ids: [second, stackId, first] });
    const { body } = await (await Attempt.started(runner)).variables();
    const named = body.variables.filter(({ name }: Parsed) => name === "WHO");
    const scopes = named.map(({ environment_id, component_id, value }: Parsed) => [
      value,
      environment_id,
      component_id,
    ]);
    expect(scopes.toSorted()).toEqual([
      ["api", environmentId, api],
      ["environment", environmentId, undefined],
      ["jobs", environmentId, jobs],
    ]);
    expect(body.stacks).toEqual([
      { stack_id: second, component_id: api },
      { stack_id: stackId },
      { stack_id: first, component_id: jobs },
    ]);
  });
});

describe("a runner token", () => {
  it("is refused with the directive stop once it is revoked", async () => {
    expect((await claim(runner)).status).toBe(204);
    const path = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens/${pool.tokenId}`;
    expect((await world.client.delete(path)).status).toBe(204);
    const reply = await claim(runner);
    expect([reply.status, desired(reply)]).toEqual([401, "stop"]);
  });

  it("is requested with the same message for every invalid credential", async () => {
    const { runner: revoked, id, tokenId } = await newPool(world, [environmentId]);
    await world.client.delete(`/v1/orgs/${world.id}/runner-pools/${id}/tokens/${tokenId}`);
    const unknown = (await issueRunnerToken(newId(systemClock))).key;
    const sent = [undefined, "", "lsr_", `${runner.key}x`, unknown, revoked.key, world.client.key];
    const replies = await Promise.all(sent.map((key) => claim(new Client(key))));
    const message =
      "Send a valid runner token (lsr_…) in the x-api-key header: an API key does not open this. " +
      "POST /v1/orgs/{org_id}/runner-pools/{pool_id}/tokens makes one.";
    const asked = { status: 401, body: { code: "unauthenticated", message } };
    expect(replies.map(({ status, body }) => ({ status, body }))).toEqual(sent.map(() => asked));
  });

  it("has its own rate limit", async () => {
    expect((await claim(runner)).headers.get("x-ratelimit-limit")).toBe("1200");
  });

  it("of the wrong kind is refused without a query", async () => {
    worker.forget();
    expect((await runner.get("/v1/projects")).status).toBe(401);
    expect((await claim(world.client)).status).toBe(401);
    expect(worker.exchanges).toEqual([]);
  });
});

describe("each call of a runner", () => {
  it("is one batch once the token is cached", async () => {
    const many = Array.from({ length: 500 }, (_, at) => ({
      template_id: `R${at}`,
      physical_id: `p-${at}`,
      resource_type: "AWS::SQS::Queue",
      status: "CREATE_COMPLETE",
    }));
    await claim(runner);
    await deploy();
    const costs: Record<string, number[]> = {};
    const measure = async <Result>(name: string, call: () => Promise<Result>) => {
      worker.forget();
      const result = await call();
      costs[name] = worker.database.map(({ statements }) => statements.length);
      return result;
    };
    const attempt = await measure("claim", () => Attempt.claim(runner));
    await measure("start", () => attempt.post("start"));
    await measure("heartbeat", () => attempt.post("heartbeat"));
    await measure("variables", () => attempt.variables());
    await measure("report", () =>
      attempt.report(stackId, { seq: 1, status: "succeeded", resources: many }),
    );
    await measure("complete", () => attempt.complete("succeeded"));
    expect(costs).toEqual({
      claim: [14],
      start: [12],
      heartbeat: [2],
      variables: [4],
      report: [8],
      complete: [10],
    });
    expect((await read(attempt.deploymentId)).status).toBe("succeeded");
  });

  it("reads no stacks of the deployments that are queued", async () => {
    await env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100)
       insert into stacks (id, organization_id, project_id, environment_id, name, created_at,
         updated_at)
       select substr(?1, 1, 19) || replace(100 + i, '0', 'z'), ?2, ?3, ?1, 's' || i, 1, 1 from n`,
    )
      .bind(environmentId, world.id, project.id)
      .run();
    const others = 5;
    for (let at = 0; at <= others; at += 1) await deploy({ queue: "fifo" });
    worker.forget();
    await Attempt.claim(runner);
    const rowsRead = worker.database.at(-1)?.rowsRead;
    expect(rowsRead).toBeGreaterThan(100);
    expect(rowsRead).toBeLessThan(100 * others);
  });
});

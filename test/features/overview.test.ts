import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { approve, joinProject, protect } from "../support/protection.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newProject,
  newStack,
  newWorld,
} from "../support/world.ts";

const SOURCE = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Of an environment without a deployment. */
const EMPTY = { alarms: [], queue: [], recent_deployments: [] };

const pathOf = (projectId: string) => `/v1/projects/${projectId}/overview`;

async function newEnvironment(client: Client, projectId: string, name: string): Promise<string> {
  const { body } = await client.post(`/v1/projects/${projectId}/environments`, { name });
  return body.id;
}

/** The overview of one environment. */
async function overviewOf(client: Client, projectId: string, id: string): Promise<Parsed> {
  const { body } = await client.get(pathOf(projectId));
  return body.data.find((each: Parsed) => each.id === id);
}

describe("the overview of a project", () => {
  it("has the project and its environments, those without a deployment included", async () => {
    const world = await newWorld();
    await newProject(world.client, { name: "other" });
    const project = await newProject(world.client, { name: "shop" });
    const staging = await newEnvironment(world.client, project.id, "staging");
    const { status, body } = await world.client.get(pathOf(project.id));
    expect(status).toBe(200);
    expect(body).toEqual({
      project: (await world.client.get(`/v1/projects/${project.id}`)).body,
      data: [
        { id: staging, name: "staging", created_at: expect.any(String), ...EMPTY },
        {
          ...{ id: project.default_environment_id, name: "production" },
          created_at: expect.any(String),
          ...EMPTY,
        },
      ],
      has_more: false,
    });
  });

  it("has the deployment that starts next, then the one that runs, then the last that ended", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    const { client } = world;
    const read = () => overviewOf(client, project.id, environmentId);
    const first = await newDeployment(client, environmentId, { queue: "fifo", source: SOURCE });
    const second = await newDeployment(client, environmentId, { queue: "fifo" });
    expect(await read()).toMatchObject({
      active_deployment: { id: first.id, status: "queued", source: SOURCE },
    });
    const attempt = await Attempt.started(pool.runner);
    const running = await read();
    expect(running.active_deployment).toMatchObject({ id: first.id, status: "in_progress" });
    expect(running).not.toHaveProperty("last_deployment");
    await client.patch(`/v1/deployments/${first.id}/cancel`);
    expect((await read()).active_deployment).toMatchObject({ id: first.id, status: "canceling" });
    await attempt.complete("canceled");
    const ended = await read();
    expect(ended.active_deployment).toMatchObject({ id: second.id, status: "queued" });
    expect(ended.active_deployment).not.toHaveProperty("source");
    const { body } = await client.get(`/v1/deployments/${first.id}`);
    const { environment_id: _, stack_ids: __, data: ___, runner: ____, ...rest } = body;
    const { continue_on_failure: _____, ...shown } = rest;
    expect(shown).toMatchObject({ status: "canceled", run_seconds: expect.any(Number) });
    expect(ended.last_deployment).toEqual({ ...shown, source: SOURCE });
  });

  it("has the newest of the statuses that ended, and none that was superseded", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    const { client } = world;
    const last = async () => (await overviewOf(client, project.id, environmentId)).last_deployment;
    for (const outcome of ["succeeded", "failed", "succeeded", "canceled"] as const) {
      const { id } = await newDeployment(client, environmentId);
      const attempt = await Attempt.started(pool.runner);
      await (outcome === "succeeded" ? attempt.succeed() : attempt.complete(outcome));
      expect(await last()).toMatchObject({ id, status: outcome });
    }
    const before = await last();
    await newDeployment(client, environmentId);
    await newDeployment(client, environmentId);
    expect(await last()).toEqual(before);
  });

  it("has two environments apart, each with its own deployments", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const staging = await newEnvironment(world.client, project.id, "staging");
    const inProduction = await newDeployment(world.client, environmentId);
    const inStaging = await newDeployment(world.client, staging);
    const { body } = await world.client.get(pathOf(project.id));
    const active = body.data.map((each: Parsed) => [each.id, each.active_deployment.id]);
    expect(active).toEqual([
      [staging, inStaging.id],
      [environmentId, inProduction.id],
    ]);
  });
});

describe("the environments of an overview", () => {
  it("end a page before it exceeds 1 MiB", async () => {
    const large = await newWorld();
    const { project, environmentId } = await newDeployableProject(large);
    const words = Array.from({ length: 100 }, () => "w".repeat(4_000));
    const source = { registry: { image: "ghcr.io/acme/shop:2", command: words } };
    const names = ["one", "two", "three"];
    const ids = [environmentId];
    for (const name of names) ids.push(await newEnvironment(large.client, project.id, name));
    for (const id of ids) await newDeployment(large.client, id, { source });
    const { text, body } = await large.client.get(pathOf(project.id));
    expect(text.length).toBeLessThan(1024 * 1024 + 2_000);
    expect([body.data.length, body.has_more]).toEqual([2, true]);
    const rest = await large.client.get(
      `${pathOf(project.id)}?after=${encodeURIComponent(body.next_page)}`,
    );
    const seen = [...body.data, ...rest.body.data].map((each: Parsed) => each.id);
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });
});

describe("the overview is refused", () => {
  it("for environments outside of the boundaries of the key, and those that are deleted", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const staging = await newEnvironment(world.client, project.id, "staging");
    const gone = await newEnvironment(world.client, project.id, "gone");
    await world.client.delete(`/v1/environments/${gone}`);
    const ids = async (client: Client) =>
      (await client.get(pathOf(project.id))).body.data.map((each: Parsed) => each.id);
    const { client } = await newKey(world, { environmentIds: [staging, gone] });
    expect(await ids(client)).toEqual([staging]);
    expect(await ids(world.client)).toEqual([staging, project.default_environment_id]);
  });
});

describe("what runs in an environment", () => {
  it("is the newest success with its creator, whatever has ended or started since", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    const person = await joinProject(world, project.id, "contributor");
    const read = () => overviewOf(world.client, project.id, environmentId);
    const run = async (client: Client, end: (attempt: Attempt) => Promise<unknown>) => {
      const { id } = await newDeployment(client, environmentId, { reason: "Ü", source: SOURCE });
      await end(await Attempt.started(pool.runner));
      return (await client.get(`/v1/deployments/${id}`)).body;
    };
    await run(world.client, (attempt) => attempt.complete("failed"));
    expect(await read()).not.toHaveProperty("current_deployment");
    const first = await run(person.client, (attempt) => attempt.succeed());
    await run(world.client, (attempt) => attempt.complete("failed"));
    await run(world.client, (attempt) => attempt.complete("canceled"));
    await newDeployment(world.client, environmentId);
    expect(await read()).toMatchObject({
      current_deployment: {
        ...{ id: first.id, status: "succeeded", source: SOURCE, reason: "Ü", trigger: "api" },
        finished_at: first.finished_at,
        created_by: { type: "person", membership_id: person.membershipId },
      },
      last_deployment: { status: "canceled" },
      active_deployment: { status: "queued" },
    });
    const second = await run(world.client, (attempt) => attempt.succeed());
    expect((await read()).current_deployment).toMatchObject({
      id: second.id,
      created_by: { membership_id: world.membershipId },
    });
    const { name } = (await read()).current_deployment.created_by;
    await env.DB.prepare("update accounts set display_name = display_name || ' now'").run();
    expect((await read()).current_deployment.created_by.name).toBe(`${name} now`);
  });

  it("has the URL of its oldest stack that has one", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const url = async () => (await overviewOf(world.client, project.id, environmentId)).url;
    const setOutputs = (stackId: string, outputs: object) =>
      env.DB.prepare("update stacks set outputs = ?2 where id = ?1")
        .bind(stackId, JSON.stringify(outputs))
        .run();
    const ids: string[] = [];
    for (const name of ["first", "second", "third"])
      ids.push(await newStack(world.client, environmentId, name));
    const [first = "", second = "", third = ""] = ids;
    await setOutputs(first, { other: "https://other.example" });
    expect(await url()).toBeUndefined();
    await setOutputs(third, { url: "https://third.example" });
    expect(await url()).toBe("https://third.example");
    await setOutputs(second, { url: "https://second.example", other: "x" });
    expect(await url()).toBe("https://second.example");
    await world.client.delete(`/v1/stacks/${second}`);
    expect(await url()).toBe("https://third.example");
  });
});

describe("the health of an environment", () => {
  it("is that of the alarms of its stacks, of which it has those that are raised", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const staging = await newEnvironment(world.client, project.id, "staging");
    const healthOf = async (id: string) => {
      const { health, alarms } = await overviewOf(world.client, project.id, id);
      return [health, alarms.map(({ name }: Parsed) => name)];
    };
    const report = (stackId: string, name: string, state: "alarm" | "ok") =>
      world.client.put(`/v1/stacks/${stackId}/alarms/${name}`, { state, reason: `${name}: "ü"` });
    const stackId = await newStack(world.client, environmentId, "web");
    const other = await newStack(world.client, environmentId, "jobs");
    expect(await healthOf(environmentId)).toEqual([undefined, []]);
    await report(stackId, "cpu", "ok");
    expect(await healthOf(environmentId)).toEqual(["ok", []]);
    const { body } = await report(other, "memory", "alarm");
    expect((await overviewOf(world.client, project.id, environmentId)).alarms).toEqual([
      {
        ...{ stack_id: other, stack_name: "jobs", name: "memory", reason: 'memory: "ü"' },
        changed_at: body.changed_at,
      },
    ]);
    expect(await healthOf(staging)).toEqual([undefined, []]);
    await world.client.delete(`/v1/stacks/${other}`);
    expect(await healthOf(environmentId)).toEqual(["ok", []]);
    await world.client.delete(`/v1/stacks/${stackId}`);
    expect(await healthOf(environmentId)).toEqual([undefined, []]);
  });

  it("has the alarms that changed last", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const stackId = await newStack(world.client, environmentId, "web");
    const most = LIMITS.overviewAlarms.value;
    const names = Array.from({ length: most + 1 }, (_, at) => `alarm-${at}`);
    for (const [at, name] of names.entries()) {
      await env.DB.prepare(
        `insert into alarms (id, stack_id, environment_id, name, organization_id, project_id, state, created_at,
           changed_at, updated_at) values (?1, ?2, ?3, ?4, ?5, ?6, 'alarm', ?7, ?7, ?7)`,
      )
        .bind(
          ...[newId(systemClock), stackId, environmentId, name, world.id, project.id],
          at % 2 ? 100 - at : at,
        )
        .run();
      const { alarms } = await overviewOf(world.client, project.id, environmentId);
      expect(alarms).toHaveLength(Math.min(at + 1, most));
    }
    const { alarms } = await overviewOf(world.client, project.id, environmentId);
    const shown = alarms.map(({ name }: Parsed) => name);
    expect(shown).toEqual(["alarm-1", "alarm-3", "alarm-5", "alarm-4", "alarm-2"]);
    expect((await world.client.get(`/v1/stacks/${stackId}/alarms`)).body.data).toHaveLength(6);
  });
});

describe("what waits in an environment", () => {
  it("is what starts first, whether it awaits an approval, and until when it is held", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const read = async () =>
      (await overviewOf(world.client, project.id, environmentId)).queue as Parsed[];
    const ids: string[] = [];
    for (let n = 0; n <= LIMITS.overviewQueue.value; n += 1) {
      const { id } = await newDeployment(world.client, environmentId, { queue: "fifo" });
      ids.push(id);
      expect(await read()).toHaveLength(Math.min(n + 1, LIMITS.overviewQueue.value));
    }
    const [first, ...more] = await read();
    expect(first).toEqual({
      ...{ id: ids[0], created_at: expect.any(String) },
      awaits_approval: false,
    });
    expect(more.map(({ id }) => id)).toEqual(ids.slice(1, -1));
    const { client } = await newKey(world, { isOwn: true });
    const held = await newEnvironment(client, project.id, "held");
    const opensAt = new Date(Math.ceil(Date.now() / 3_600_000 + 24) * 3_600_000);
    const days = [DAYS[opensAt.getUTCDay()]];
    const hour = String(opensAt.getUTCHours()).padStart(2, "0");
    const weekly = [{ days, from: `${hour}:00`, to: `${hour}:30` }];
    await protect(client, held, { windows: { time_zone: "UTC", weekly } });
    await newDeployment(client, held);
    const inWindow = await overviewOf(world.client, project.id, held);
    expect(inWindow.queue).toMatchObject([
      { awaits_approval: false, opens_at: opensAt.toISOString() },
    ]);
    const approved = await newEnvironment(client, project.id, "approved");
    const approvals = { required: 1, approvers: { role: "owner" }, prevent_self_approval: false };
    await protect(client, approved, { approvals });
    await newDeployment(client, approved);
    const [waiting] = (await overviewOf(world.client, project.id, approved)).queue;
    expect(waiting).toMatchObject({ awaits_approval: true });
    expect(waiting).not.toHaveProperty("opens_at");
  });

  it("has no time to open at once it is approved", async () => {
    const world = await newWorld();
    const { client } = await newKey(world, { isOwn: true });
    const { project, environmentId } = await newDeployableProject(world);
    const approvals = { required: 1, approvers: { role: "owner" }, prevent_self_approval: false };
    await protect(client, environmentId, { approvals });
    const { id } = await newDeployment(client, environmentId);
    expect((await approve(client, id)).status).toBe(201);
    const { queue } = await overviewOf(world.client, project.id, environmentId);
    expect(queue).toEqual([{ id, created_at: expect.any(String), awaits_approval: false }]);
  });

  it("is beside the last deployments of every status, the newest first", async () => {
    const world = await newWorld();
    const { project, environmentId, pool } = await newDeployableProject(world);
    const { client } = world;
    const { id } = await newDeployment(client, environmentId);
    await (await Attempt.started(pool.runner)).succeed();
    const shown: string[] = [id];
    const most = LIMITS.overviewDeployments.value;
    for (let n = 0; n < most; n += 1) {
      const { recent_deployments } = await overviewOf(client, project.id, environmentId);
      expect(recent_deployments).toHaveLength(n + 1);
      shown.unshift((await newDeployment(client, environmentId)).id);
    }
    const { recent_deployments } = await overviewOf(client, project.id, environmentId);
    const recent = recent_deployments.map((each: Parsed) => [each["id"], each["status"]]);
    const statusOf = (at: number) => (at === 0 ? "queued" : "superseded");
    expect(recent).toEqual(shown.slice(0, most).map((each, at) => [each, statusOf(at)]));
    await env.DB.prepare("delete from deployment_stacks where deployment_id = ?")
      .bind(shown[0])
      .run();
    await env.DB.prepare("delete from deployments where id = ?").bind(shown[0]).run();
    const first = (await overviewOf(client, project.id, environmentId)).recent_deployments.at(-1);
    expect(first).toEqual({
      ...{ id, status: "succeeded", created_at: expect.any(String) },
      run_seconds: expect.any(Number),
    });
  });
});

it("reads at most three rows for each cell, with 100,000 deployments", async () => {
  const world = await newWorld();
  const { project, environmentId, pool } = await newDeployableProject(world);
  const { client } = world;
  const stackId = await newStack(client, environmentId, "last");
  for (let n = 0; n < 7; n += 1)
    await client.put(`/v1/stacks/${stackId}/alarms/${n}`, { state: n % 3 ? "alarm" : "ok" });
  const { id } = await newDeployment(client, environmentId);
  await (await Attempt.started(pool.runner)).succeed();
  await env.DB.prepare("update stacks set outputs = ? where id = ?")
    .bind(JSON.stringify({ url: "https://shop.example" }), stackId)
    .run();
  for (let batch = 0; batch < 5; batch += 1) {
    const status = "json_array('succeeded', 'failed', 'canceled', 'superseded') ->> (item.key % 4)";
    await copyRow(world.id, "deployments", id, newIdsOf(20_000), {
      ...{ status, announced: status },
      number: `${batch + 1} * 100000 + item.key`,
      created_at: `source.created_at - 1000 + item.key % 1000`,
    });
  }
  for (let n = 0; n < 6; n += 1) await newDeployment(client, environmentId, { queue: "fifo" });
  const worker = new Instrumented();
  const caller = (await newKey(world)).client.via(worker.fetch);
  await caller.get("/v1/orgs");
  worker.forget();
  const { body } = await caller.get(pathOf(project.id));
  const [one] = body.data;
  expect(one).toMatchObject({ health: "alarm", url: "https://shop.example" });
  expect([one.alarms.length, one.queue.length, one.recent_deployments.length]).toEqual([4, 5, 20]);
  // The project, the name, the health and the URL; the source, the creator and the time of each of three deployments.
  const cells = 4 + 3 * 3 + one.alarms.length + one.queue.length + 20;
  expect(worker.database).toHaveLength(1);
  const read = Number(worker.database[0]?.rowsRead);
  expect(read).toBeGreaterThan(cells);
  expect(read).toBeLessThanOrEqual(3 * cells);
  const days = LIMITS.insightDays.value;
  await copyRow(world.id, "deployment_days", undefined, newIdsOf(days), {
    day: "source.day - 1 - item.key",
  });
  worker.forget();
  const insights = await caller.get(`/v1/projects/${project.id}/insights?days=${days}`);
  expect(insights.body.data[0].days).toHaveLength(days);
  expect(worker.database).toHaveLength(1);
  expect(worker.database[0]?.rowsRead).toBeGreaterThan(days);
  expect(worker.database[0]?.rowsRead).toBeLessThanOrEqual(3 * days);
});

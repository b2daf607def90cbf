import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import {
  connect,
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newProject,
  newWorld,
  type World,
} from "../support/world.ts";

const SOURCE = { registry: { image: "ghcr.io/acme/shop:1.4.2" } };

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
        { id: staging, name: "staging", created_at: expect.any(String) },
        { id: project.default_environment_id, name: "production", created_at: expect.any(String) },
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
    const { id, status, created_at, started_at, finished_at, updated_at } = body;
    const times = { created_at, started_at, finished_at, updated_at };
    expect(ended.last_deployment).toEqual({ id, status, source: SOURCE, ...times });
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
  let world: World;
  let projectId: string;

  beforeAll(async () => {
    world = await newWorld();
    projectId = (await newProject(world.client)).id;
    await connect(world.client, projectId);
    for (const name of ["a", "b", "c", "d"]) await newEnvironment(world.client, projectId, name);
  });

  it.each(["-created_at", "%2Bcreated_at"])(
    "are pages in the order of the list: %s",
    async (order) => {
      const { client } = await newKey(world);
      const list = await client.get(`/v1/projects/${projectId}/environments?sort_by=${order}`);
      const seen: string[] = [];
      for (let after = ""; ; ) {
        const { body } = await client.get(`${pathOf(projectId)}?limit=2&sort_by=${order}${after}`);
        seen.push(...body.data.map((each: Parsed) => each.id));
        expect(body.project.id).toBe(projectId);
        if (!body.has_more) break;
        expect(body.data).toHaveLength(2);
        after = `&after=${encodeURIComponent(body.next_page)}`;
      }
      expect(seen).toEqual(list.body.data.map((each: Parsed) => each.id));
    },
  );

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
  it("to another organization, a member of no role, and a key of another project", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const other = await newProject(world.client, { name: "other" });
    const read = async (client: Client) => (await client.get(pathOf(project.id))).status;
    expect(await read((await newWorld()).client)).toBe(404);
    expect(await read((await join(world)).client)).toBe(403);
    expect(await read((await newKey(world, { projectIds: [other.id] })).client)).toBe(404);
    expect(await read((await newKey(world, { projectIds: [project.id] })).client)).toBe(200);
    expect((await world.client.get(pathOf(newId(systemClock)))).status).toBe(404);
    const viewer = await join(world);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [viewer.membershipId],
    });
    expect(await read(viewer.client)).toBe(200);
  });

  it("to a key without one of the scopes of what it shows", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const needed = ["projects:read", "environments:read", "deployments:read"] as const;
    for (const lacking of needed) {
      const scopes = needed.filter((scope) => scope !== lacking);
      const { client } = await newKey(world, { scopes });
      const { status, body } = await client.get(pathOf(project.id));
      expect([status, body.message]).toEqual([403, `This key lacks the scope ${lacking}.`]);
    }
    const { client } = await newKey(world, { scopes: needed });
    expect((await client.get(pathOf(project.id))).status).toBe(200);
  });

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

it("reads no more rows for an environment that had many deployments", async () => {
  const world = await newWorld();
  const { project, environmentId } = await newDeployableProject(world);
  const rowsRead = async () => {
    const worker = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(worker.fetch);
    await caller.get("/v1/orgs");
    worker.forget();
    expect((await caller.get(pathOf(project.id))).status).toBe(200);
    const [exchange, ...more] = worker.database;
    expect(more).toEqual([]);
    return Number(exchange?.rowsRead);
  };
  for (let n = 0; n < 3; n += 1) await newDeployment(world.client, environmentId);
  const few = await rowsRead();
  await env.DB.prepare(
    `insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
      queue, patch, configuration, created_at, updated_at)
    select substr('superseded000000000000' || value, -22), organization_id, project_id, environment_id,
      1000 + value, 'superseded', 'superseded', queue, '[]', '{}', created_at + value, created_at
    from deployments, json_each(?) where environment_id = ? and number = 1`,
  )
    .bind(JSON.stringify(Array.from({ length: 2_000 }, (_, n) => n)), environmentId)
    .run();
  expect(few).toBeGreaterThan(0);
  expect(await rowsRead()).toBe(few);
});

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newInside, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let project: Parsed;
let environments: string;
let production: string;

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  environments = `/v1/projects/${project.id}/environments`;
  production = `/v1/environments/${project.default_environment_id}`;
});

const create = async (path: string, body: object): Promise<Parsed> => {
  const reply = await world.client.post(path, body);
  expect(reply.status).toBe(201);
  return reply.body;
};

describe("environments", () => {
  it("are created, read, replaced and deleted", async () => {
    const configuration = { replicas: 2, nested: { list: [1, null, "x"] } };
    const staging = await create(environments, { name: "staging", configuration });
    expect(staging).toMatchObject({ project_id: project.id, name: "staging", configuration });
    const path = `/v1/environments/${staging.id}`;
    expect((await world.client.get(path)).body).toEqual(staging);
    const replaced = await world.client.put(path, { name: "preview-1", configuration: {} });
    expect(replaced.body).toMatchObject({ name: "preview-1", configuration: {} });
    const { body } = await world.client.get(environments);
    expect(body.data.map(({ name }: Parsed) => name)).toEqual(["preview-1", "production"]);
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await world.client.get(path)).status).toBe(404);
  });

  it("have an empty configuration at first, and a unique name in the project", async () => {
    expect((await create(environments, { name: "a" })).configuration).toEqual({});
    const staging = await create(environments, { name: "staging" });
    expect((await world.client.post(environments, { name: "production" })).status).toBe(409);
    const rename = { name: "production", configuration: {} };
    const path = `/v1/environments/${staging.id}`;
    expect((await world.client.put(path, rename)).status).toBe(409);
    expect((await world.client.put(path, { ...rename, name: "staging" })).status).toBe(200);
  });

  it.each(["", "A", "a b", "a_b", "ä", "x".repeat(65)])(
    "are rejected with the name %j",
    async (name) => {
      const reply = await world.client.post(environments, { name });
      expect(reply.body.cause.issues[0].path).toBe("name");
    },
  );

  it("have a configuration of at most 256 KiB, which is an object", async () => {
    const configurationOf = (bytes: number) => ({ a: "x".repeat(bytes - '{"a":""}'.length) });
    const body = (configuration: unknown) => ({ name: "big", configuration });
    const over = await world.client.post(environments, body(configurationOf(256 * 1024 + 1)));
    expect(over.body.cause.issues[0].path).toBe("configuration");
    await create(environments, body(configurationOf(256 * 1024)));
    for (const wrong of [[], "x", 1, null]) {
      expect((await world.client.post(environments, body(wrong))).status).toBe(400);
    }
  });

  it("cannot be deleted while they are the default, and the attempt deletes no records", async () => {
    await newInside(world.client, project.default_environment_id);
    expect((await world.client.delete(production)).status).toBe(409);
    for (const list of ["components", "stacks", "variables"]) {
      expect((await world.client.get(`${production}/${list}`)).body.data).toHaveLength(1);
    }
    const staging = await create(environments, { name: "staging" });
    const projectPath = `/v1/projects/${project.id}`;
    await world.client.put(projectPath, { default_environment_id: staging.id });
    expect((await world.client.delete(production)).status).toBe(204);
    await new Instrumented().sweep();
    for (const table of ["components", "stacks", "variables"]) {
      const rows = await env.DB.prepare(`select count(*) as n from ${table} where project_id = ?`)
        .bind(project.id)
        .first("n");
      expect(rows, table).toBe(0);
    }
  });
});

describe("components", () => {
  it("are created, read, replaced, listed and deleted", async () => {
    const api = await create(`${production}/components`, { name: "api", kind: "service" });
    expect(api).toMatchObject({
      project_id: project.id,
      environment_id: project.default_environment_id,
    });
    const path = `/v1/components/${api.id}`;
    const replaced = await world.client.put(path, { name: "web", kind: "site" });
    expect(replaced.body).toMatchObject({ id: api.id, name: "web", kind: "site" });
    expect((await world.client.get(`${production}/components`)).body.data).toEqual([replaced.body]);
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await world.client.get(path)).status).toBe(404);
  });

  it("have one of four kinds, and a unique name in the environment", async () => {
    const components = `${production}/components`;
    for (const kind of ["service", "worker", "job", "site"]) {
      await create(components, { name: kind, kind });
    }
    const taken = await world.client.post(components, { name: "job", kind: "job" });
    expect(taken.status).toBe(409);
    const wrong = await world.client.post(components, { name: "x", kind: "lambda" });
    expect(wrong.body.cause.issues[0].path).toBe("kind");
    const staging = await create(environments, { name: "staging" });
    await create(`/v1/environments/${staging.id}/components`, { name: "job", kind: "job" });
  });

  it("leave their stacks in the environment when they are deleted", async () => {
    const api = await create(`${production}/components`, { name: "api", kind: "service" });
    const stack = await create(`${production}/stacks`, { name: "api", component_id: api.id });
    expect(stack.component_id).toBe(api.id);
    await world.client.delete(`/v1/components/${api.id}`);
    const remaining = (await world.client.get(`/v1/stacks/${stack.id}`)).body;
    expect(remaining).not.toHaveProperty("component_id");
  });
});

describe("stacks", () => {
  it("are created, read, replaced, listed and deleted", async () => {
    const stack = await create(`${production}/stacks`, { name: "Shop/API v2" });
    const api = await create(`${production}/components`, { name: "api", kind: "service" });
    const path = `/v1/stacks/${stack.id}`;
    const replaced = await world.client.put(path, { name: "shop", component_id: api.id });
    expect(replaced.body).toMatchObject({ name: "shop", component_id: api.id });
    const cleared = await world.client.put(path, { name: "shop" });
    expect(cleared.body).not.toHaveProperty("component_id");
    expect((await world.client.get(`${production}/stacks`)).body.data).toEqual([cleared.body]);
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await world.client.get(path)).status).toBe(404);
  });

  it("accept only a component of their environment", async () => {
    const staging = await create(environments, { name: "staging" });
    const inStaging = await newInside(world.client, staging.id);
    const foreign = await newWorld();
    const foreignProject = await newProject(foreign.client);
    const inForeignProject = await newInside(foreign.client, foreignProject.default_environment_id);
    for (const component_id of [inStaging, inForeignProject].map((each) => each["component_id"])) {
      const reply = await world.client.post(`${production}/stacks`, { name: "x", component_id });
      expect(reply.status).toBe(404);
    }
  });

  it("have a unique name in the environment", async () => {
    await create(`${production}/stacks`, { name: "shop" });
    expect((await world.client.post(`${production}/stacks`, { name: "shop" })).status).toBe(409);
  });

  it("delete their alarms, as do their environment and their project", async () => {
    const staging = await create(environments, { name: "staging" });
    const inStaging = `/v1/environments/${staging.id}`;
    const stackIds: string[] = [];
    for (const path of [production, inStaging, production]) {
      stackIds.push((await create(`${path}/stacks`, { name: `n-${stackIds.length}` })).id);
    }
    for (const id of stackIds) {
      await world.client.put(`/v1/stacks/${id}/alarms/cpu`, { state: "ok" });
    }
    const remaining = async () =>
      (
        await env.DB.prepare("select stack_id from alarms where project_id = ? order by stack_id")
          .bind(project.id)
          .all()
      ).results.map(({ stack_id }) => stack_id);
    expect(await remaining()).toEqual(stackIds.toSorted());
    expect((await world.client.delete(`/v1/stacks/${stackIds[0]}`)).status).toBe(204);
    expect(await remaining()).toEqual(stackIds.slice(1).toSorted());
    expect((await world.client.delete(inStaging)).status).toBe(204);
    expect(await remaining()).toEqual(stackIds.slice(2));
    expect((await world.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    expect(await remaining()).toEqual([]);
  });

  it.each(["abc", "0OIl", "z".repeat(22), newId(systemClock)])(
    "of an ID like %s are not found: the contract does not restrict the form of stack IDs",
    async (id) => {
      expect((await world.client.get(`/v1/stacks/${id}`)).status).toBe(404);
    },
  );
});

describe("permissions in an environment", () => {
  it.each([
    ["viewer", 403],
    ["contributor", 200],
  ])("let a %s read everything, and write if the role allows it", async (role, expected) => {
    const person = await join(world);
    const member = { member_ids: [person.membershipId], role };
    await world.client.post(`/v1/projects/${project.id}/members`, member);
    const ids = await newInside(world.client, project.default_environment_id);
    const { client } = person;
    const reads = [
      environments,
      production,
      `${production}/components`,
      `${production}/stacks`,
      `${production}/variables`,
      `/v1/components/${ids["component_id"]}`,
      `/v1/stacks/${ids["stack_id"]}`,
      `/v1/variables/${ids["variable_id"]}`,
    ];
    for (const path of reads) expect((await client.get(path)).status, path).toBe(200);
    const value = { name: "B", storage_method: "string", value: "b" };
    const writes = [
      await client.post(environments, { name: "new" }),
      await client.put(production, { name: "production", configuration: {} }),
      await client.post(`${production}/components`, { name: "new", kind: "job" }),
      await client.post(`${production}/stacks`, { name: "new" }),
      await client.post(`${production}/variables`, value),
      await client.put(`${production}/variables`, { mode: "merge", variables: [] }),
      await client.put(`/v1/components/${ids["component_id"]}`, { name: "b", kind: "job" }),
      await client.put(`/v1/stacks/${ids["stack_id"]}`, { name: "b" }),
      await client.put(`/v1/variables/${ids["variable_id"]}`, { ...value, name: "C" }),
      await client.delete(`/v1/variables/${ids["variable_id"]}`),
      await client.delete(`/v1/stacks/${ids["stack_id"]}`),
      await client.delete(`/v1/components/${ids["component_id"]}`),
    ];
    for (const { status, body } of writes) {
      if (expected === 403) expect([status, body.code]).toEqual([403, "forbidden"]);
      else expect([200, 201, 204]).toContain(status);
    }
  });
});

describe("a member of the organization without a role in the project", () => {
  it("cannot read or write anything in it, also with a role in another project", async () => {
    const outsider = await join(world);
    const own = await newProject(outsider.client);
    const ids = await newInside(world.client, project.default_environment_id);
    const { client } = outsider;
    expect((await client.get(`/v1/environments/${own.default_environment_id}`)).status).toBe(200);
    const variable = { name: "B", storage_method: "string", value: "b" };
    const attempts = [
      await client.get(production),
      await client.put(production, { name: "production", configuration: {} }),
      await client.delete(production),
      ...(await Promise.all(
        ["components", "stacks", "variables"].map((list) => client.get(`${production}/${list}`)),
      )),
      await client.post(`${production}/components`, { name: "new", kind: "job" }),
      await client.post(`${production}/stacks`, { name: "new" }),
      await client.post(`${production}/variables`, variable),
      await client.put(`${production}/variables`, { mode: "replace", variables: [] }),
      await client.get(`/v1/components/${ids["component_id"]}`),
      await client.put(`/v1/components/${ids["component_id"]}`, { name: "b", kind: "job" }),
      await client.delete(`/v1/components/${ids["component_id"]}`),
      await client.get(`/v1/components/${ids["component_id"]}/variables`),
      await client.get(`/v1/stacks/${ids["stack_id"]}`),
      await client.put(`/v1/stacks/${ids["stack_id"]}`, { name: "b" }),
      await client.delete(`/v1/stacks/${ids["stack_id"]}`),
      await client.get(`/v1/variables/${ids["variable_id"]}`),
      await client.get(`/v1/variables/${ids["variable_id"]}/value`),
      await client.put(`/v1/variables/${ids["variable_id"]}`, variable),
      await client.delete(`/v1/variables/${ids["variable_id"]}`),
      await client.get(environments),
      await client.post(environments, { name: "new" }),
    ];
    for (const { status, body } of attempts) {
      expect([status, body.code]).toEqual([403, "forbidden"]);
    }
  });
});

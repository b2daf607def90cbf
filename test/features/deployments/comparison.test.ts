import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Parsed } from "../../support/client.ts";
import { newKey, newProject, newWorld, type World } from "../../support/world.ts";

let world: World;
let project: Parsed;
let production: string;
let staging: string;

beforeAll(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  production = project.default_environment_id;
  staging = await newEnvironment("staging", { replicas: 2, region: "eu", old: true });
  await world.client.put(`/v1/environments/${production}`, {
    name: "production",
    configuration: { replicas: 3, region: "eu" },
  });
});

async function newEnvironment(name: string, configuration: object): Promise<string> {
  const environments = `/v1/projects/${project.id}/environments`;
  const { body } = await world.client.post(environments, { name, configuration });
  return body.id;
}

async function newComponent(environmentId: string, name: string): Promise<string> {
  const components = `/v1/environments/${environmentId}/components`;
  return (await world.client.post(components, { name, kind: "service" })).body.id;
}

async function addVariables(path: string, methods: Record<string, string>): Promise<void> {
  for (const [name, storage_method] of Object.entries(methods)) {
    const body = { name, storage_method, value: `value of ${name} in ${path}` };
    expect((await world.client.post(`${path}/variables`, body)).status).toBe(201);
  }
}

const image = (tag: string) => JSON.stringify({ registry: { image: `ghcr.io/acme/shop:${tag}` } });
const setSource = (id: string, source: string | null) =>
  env.DB.prepare("update environments set source = ?2 where id = ?1").bind(id, source).run();

const compare = (id: string, other: string, { client } = world) =>
  client.get(`/v1/environments/${id}/comparison?with=${other}`);

describe("a comparison of two environments", () => {
  it("has what makes the configuration of one that of the other, and their sources", async () => {
    await setSource(production, image("1"));
    await setSource(staging, image("2"));
    const { status, body } = await compare(production, staging);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      environment: { id: production, name: "production", source: JSON.parse(image("1")) },
      with: { id: staging, name: "staging", source: JSON.parse(image("2")) },
      same_source: false,
    });
    expect(body.configuration.toSorted(byPath)).toEqual([
      { op: "add", path: "/old", value: true },
      { op: "replace", path: "/replicas", value: 2, old_value: 3 },
    ]);
    const back = await compare(staging, production);
    expect(back.body.configuration.toSorted(byPath)).toEqual([
      { op: "remove", path: "/old", old_value: true },
      { op: "replace", path: "/replicas", value: 3, old_value: 2 },
    ]);
    await setSource(staging, image("1"));
    expect((await compare(production, staging)).body.same_source).toBe(true);
    await setSource(staging, null);
    const without = (await compare(production, staging)).body;
    expect([without.same_source, without.with.source]).toEqual([false, undefined]);
  });

  it("names the variables that are missing, extra or stored differently, and matches components by name", async () => {
    const own = await newComponent(production, "api");
    const other = await newComponent(staging, "api");
    await newComponent(staging, "web");
    await addVariables(`/v1/environments/${production}`, { A: "string", B: "string", C: "secret" });
    // The name of the component and that of its variable, together.
    const joined = { apiE: "string" };
    const ofStaging = { B: "secret", C: "secret", D: "string", ...joined };
    await addVariables(`/v1/environments/${staging}`, ofStaging);
    await addVariables(`/v1/components/${own}`, { A: "string", E: "string" });
    await addVariables(`/v1/components/${other}`, { A: "string", D: "string" });
    const { body, text } = await compare(production, staging);
    expect(body.variables).toEqual({
      missing: [{ name: "D" }, { name: "apiE" }, { name: "D", component: "api" }],
      extra: [{ name: "A" }, { name: "E", component: "api" }],
      stored_differently: [{ name: "B", storage_method: "string", with_storage_method: "secret" }],
    });
    expect(text).not.toContain("value of");
  });

  it("leaves out the variables of a component that is deleted, before the purge", async () => {
    const id = await newComponent(staging, "old");
    const variables = Array.from({ length: 200 }, (_, at) => {
      return { name: `OLD_${at}`, storage_method: "string", value: "1" };
    });
    await world.client.put(`/v1/components/${id}/variables`, { mode: "merge", variables });
    const before = (await compare(production, staging)).body.variables.missing;
    const isOld = ({ component }: Parsed) => component === "old";
    expect(before.filter(isOld)).toHaveLength(200);
    await world.client.delete(`/v1/components/${id}`);
    const left = await env.DB.prepare("select count(*) from variables where component_id = ?")
      .bind(id)
      .first("count(*)");
    expect(left).toBeGreaterThan(0);
    const { missing } = (await compare(production, staging)).body.variables;
    expect(missing).toEqual(before.filter((each: Parsed) => !isOld(each)));
  });

  it("has no names for a key that may not read variables, and no sources for one that may not read deployments", async () => {
    await setSource(production, image("1"));
    await setSource(staging, image("2"));
    const { client } = await newKey(world, { scopes: ["environments:read"] });
    const { status, body } = await compare(production, staging, { ...world, client });
    expect([status, body.variables]).toEqual([200, undefined]);
    expect(body).not.toHaveProperty("same_source");
    for (const part of [body.environment, body.with]) expect(part).not.toHaveProperty("source");
    const both = await newKey(world, { scopes: ["environments:read", "deployments:read"] });
    const read = await compare(production, staging, { ...world, ...both });
    expect(read.body).toMatchObject({
      same_source: false,
      environment: { source: JSON.parse(image("1")) },
      with: { source: JSON.parse(image("2")) },
    });
    const narrow = await newKey(world, { scopes: ["variables:read"] });
    expect((await compare(production, staging, { ...world, ...narrow })).status).toBe(403);
  });

  it("is of environments of one project", async () => {
    const another = await newProject(world.client, { name: "another" });
    const elsewhere = await compare(production, another.default_environment_id);
    expect([elsewhere.status, elsewhere.body.message]).toEqual([
      404,
      expect.stringContaining("environment in the project"),
    ]);
    const foreign = await newProject((await newWorld()).client);
    expect((await compare(production, foreign.default_environment_id)).status).toBe(404);
    const missing = await world.client.get(`/v1/environments/${production}/comparison`);
    expect([missing.status, missing.body.code]).toEqual([400, "bad_input"]);
  });

  it("finds no difference between an environment and itself", async () => {
    const { body } = await compare(production, production);
    expect(body).toMatchObject({
      same_source: true,
      configuration: [],
      variables: { missing: [], extra: [], stored_differently: [] },
    });
  });
});

const byPath = (a: Parsed, b: Parsed) => String(a["path"]).localeCompare(String(b["path"]));

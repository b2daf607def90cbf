import { beforeAll, describe, expect, it } from "vitest";
import type { Parsed } from "../support/client.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newKey,
  newProject,
  newServiceAccount,
  newStack,
  newWorld,
  type Person,
  type World,
} from "../support/world.ts";

const [GRACE, ADA] = ["Grace Hopper", "Ada Lovelace"];

let world: World;
let project: Parsed;
let [grace, ada]: Person[] = [];

/** Two people with the same role, who each create a variable of their name and one of both. */
beforeAll(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  const people: Person[] = [];
  for (const name of [GRACE, ADA]) {
    const person = await join(world, "admin");
    await person.client.patch("/v1/account", { name, display_name: name });
    for (const variable of [name === GRACE ? "COMPILER" : "ENGINE", `BY_${people.length}`]) {
      const path = `/v1/environments/${project.default_environment_id}/variables`;
      await person.client.post(path, { name: variable, storage_method: "string", value: "a" });
    }
    people.push(person);
  }
  [grace, ada] = people;
});

interface Log {
  path(): string;
  /** The parameter for the name of what was changed. */
  parameter: string;
  namesOf(entry: Parsed): [actor: string | undefined, changed: string | undefined];
}

const LOGS: Record<string, Log> = {
  "the audit log": {
    path: () => `/v1/orgs/${world.id}/audit-log?action=variable.created`,
    parameter: "target_name",
    namesOf: ({ actor, target }) => [actor.name, target.name],
  },
  "the changelog": {
    path: () => `/v1/projects/${project.id}/changelog?limit=4`,
    parameter: "record_name",
    namesOf: ({ actor, record }) => [actor?.name, record.name],
  },
};

async function read({ path, namesOf }: Log, filters: Record<string, string> = {}) {
  const query = new URLSearchParams(filters);
  const { status, body } = await world.client.get(`${path()}&${query}`);
  expect(status).toBe(200);
  return body.data.map(namesOf).toSorted();
}

describe.each(Object.entries(LOGS))("%s", (_, log) => {
  it("names who has done what", async () => {
    expect(await read(log)).toEqual([
      [ADA, "BY_1"],
      [ADA, "ENGINE"],
      [GRACE, "BY_0"],
      [GRACE, "COMPILER"],
    ]);
  });

  it("is filtered by both names, alone and together, exactly", async () => {
    const { parameter } = log;
    expect(await read(log, { actor_name: ADA })).toEqual([
      [ADA, "BY_1"],
      [ADA, "ENGINE"],
    ]);
    expect(await read(log, { [parameter]: "COMPILER" })).toEqual([[GRACE, "COMPILER"]]);
    expect(await read(log, { actor_name: GRACE, [parameter]: "COMPILER" })).toEqual([
      [GRACE, "COMPILER"],
    ]);
    expect(await read(log, { actor_name: ADA, [parameter]: "COMPILER" })).toEqual([]);
    for (const name of ["ada lovelace", "Ada", "Ada Lovelace 2"]) {
      expect(await read(log, { actor_name: name })).toEqual([]);
    }
  });

  it("has the name that a person has now, and none of a person who is gone", async () => {
    await grace?.client.patch("/v1/account", { display_name: "Amazing Grace" });
    expect((await read(log, { actor_name: "Amazing Grace" })).length).toBe(2);
    expect(await read(log, { actor_name: GRACE })).toEqual([]);
    await grace?.client.patch("/v1/account", { display_name: GRACE });
  });
});

it("an entry of a person who is erased has no name, in both logs", async () => {
  expect((await ada?.client.delete("/v1/account"))?.status).toBe(204);
  for (const log of Object.values(LOGS)) {
    const names = (await read(log)).map(([actor]: [string | undefined]) => actor);
    expect(names.filter((name: string | undefined) => name === undefined)).toHaveLength(2);
    expect(names.filter((name: string | undefined) => name === GRACE)).toHaveLength(2);
    expect(await read(log, { actor_name: ADA })).toEqual([]);
  }
});

it("a service account has its name in both logs", async () => {
  const membershipId = await newServiceAccount(world, "admin");
  const { client } = await newKey(world, { membershipId, role: "admin" });
  const variables = `/v1/environments/${project.default_environment_id}/variables`;
  await client.post(variables, { name: "BY_BOT", storage_method: "string", value: "a" });
  const { body } = await world.client.get(`/v1/orgs/${world.id}/service-accounts`);
  const { name } = body.data.find((each: Parsed) => each.membership_id === membershipId);
  for (const log of Object.values(LOGS)) {
    expect(await read(log, { actor_name: name })).toEqual([[name, "BY_BOT"]]);
  }
});

describe("what an entry names apart from the actor", () => {
  const readFirst = async (query: string) => {
    const { body } = await world.client.get(`/v1/orgs/${world.id}/audit-log?${query}`);
    return body.data[0];
  };
  const readChange = async (projectId: string, query: string) => {
    const { body } = await world.client.get(`/v1/projects/${projectId}/changelog?${query}`);
    return body.data[0];
  };

  it("is the key, by the name that it has now", async () => {
    const { client, keyId } = await newKey(world);
    const { id } = await newProject(client);
    const source = { id: keyId, name: "desktop" };
    await world.client.patch(`/v1/orgs/${world.id}/api-keys/${keyId}`, { name: "desktop" });
    const record = await readFirst(`target=${id}&action=project.created`);
    expect(record.source).toEqual({ type: "api_key", ...source });
    expect((await readChange(id, "sort_by=%2Bcreated_at")).source).toEqual(source);
  });

  it("is what the target is in, by the names that it has now, until it is deleted", async () => {
    const { id: projectId, default_environment_id: id } = await newProject(world.client, {
      name: "shop",
    });
    const inside = await newInside(world.client, id);
    const variables = `/v1/components/${inside["component_id"]}/variables`;
    const body = { name: "INNER", storage_method: "string", value: "a" };
    const { body: variable } = await world.client.post(variables, body);
    await world.client.put(`/v1/variables/${variable.id}`, { ...body, value: "b" });
    await world.client.patch(`/v1/environments/${id}`, { name: "renamed" });
    const target = { type: "variable", id: variable.id, name: "INNER" };
    const environment = { type: "environment", id, name: "renamed" };
    for (const action of ["variable.created", "variable.updated"]) {
      const { targets, target: recorded } = await readFirst(
        `target=${variable.id}&action=${action}`,
      );
      expect(recorded).toEqual(target);
      expect(targets).toEqual([
        target,
        { type: "component", id: inside["component_id"], name: expect.any(String) },
        environment,
        { type: "project", id: projectId, name: "shop" },
      ]);
      const sort = action === "variable.created" ? "%2Bcreated_at" : "-created_at";
      const change = await readChange(projectId, `record_name=INNER&sort_by=${sort}`);
      expect(change.targets).toEqual(targets.slice(0, -1));
    }
    expect((await world.client.delete(`/v1/projects/${projectId}`)).status).toBe(204);
    expect((await readFirst(`target=${variable.id}`)).targets).toEqual([target]);
  });

  it("is the content of a deployment, and which request created it", async () => {
    const { id, default_environment_id } = await newProject(world.client);
    await newStack(world.client, default_environment_id);
    await connect(world.client, id);
    const source = { registry: { image: "shop:42" } };
    const deployment = await newDeployment(world.client, default_environment_id, { source });
    const { record, targets } = await readChange(id, "limit=1");
    expect(record).toEqual({ type: "deployment", id: deployment.id });
    expect(targets).toEqual([
      { ...record, name: "shop:42", trigger: "api" },
      { type: "environment", id: default_environment_id, name: "production" },
    ]);
  });
});

import { beforeAll, describe, expect, it } from "vitest";
import type { Parsed } from "../support/client.ts";
import {
  join,
  newKey,
  newProject,
  newServiceAccount,
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

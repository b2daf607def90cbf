import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed, Reply } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { CONNECTION, newKey, newProject } from "../../support/world.ts";
import { variable } from "./changelog-cases.ts";
import { type ChangelogFixture, newFixture } from "./changelog-fixture.ts";
import { listChangelog } from "./changelog-harness.ts";

describe("a request that changes nothing", () => {
  it("has no changelog entry: the same connection again", async () => {
    const { world, project } = await newFixture();
    const path = `/v1/projects/${project.id}`;
    const entries = async () => (await world.client.get(`${path}/changelog`)).text;
    const before = await entries();
    expect((await world.client.put(`${path}/connection`, CONNECTION)).status).toBe(200);
    expect(await entries()).toBe(before);
  });

  const refusals: [string, (fixture: ChangelogFixture) => Promise<Reply>, number][] = [
    [
      "a name that is taken",
      ({ world, ids }) =>
        world.client.put(`/v1/environments/${ids["environment_id"]}`, {
          name: "production",
          configuration: {},
        }),
      409,
    ],
    [
      "a default environment of another project",
      async ({ world, ids }) =>
        world.client.put(`/v1/projects/${ids["project_id"]}`, {
          default_environment_id: (await newProject(world.client)).default_environment_id,
        }),
      404,
    ],
    [
      "members of whom one is already in the project",
      ({ world, member, outsiders, ids }) =>
        world.client.post(`/v1/projects/${ids["project_id"]}/members`, {
          member_ids: [...outsiders, member].map(({ membershipId }) => membershipId),
        }),
      409,
    ],
    [
      "the last owner's removal",
      ({ world, ids }) =>
        world.client.delete(`/v1/projects/${ids["project_id"]}/members/${world.membershipId}`),
      409,
    ],
    [
      "the default environment's deletion",
      ({ world, project }) =>
        world.client.delete(`/v1/environments/${project.default_environment_id}`),
      409,
    ],
    [
      "the deletion of a stack with an unfinished deployment",
      ({ world, ids }) => world.client.delete(`/v1/stacks/${ids["stack_id"]}`),
      409,
    ],
    [
      "a deployment of a project that was disconnected",
      async ({ world }) => {
        const { id, default_environment_id } = await newProject(world.client);
        await world.client.patch(`/v1/projects/${id}/disconnect`);
        return world.client.post(`/v1/environments/${default_environment_id}/deployments`, {});
      },
      409,
    ],
    [
      "the promotion of a deployment that has not succeeded",
      ({ world, ids, project }) =>
        world.client.post(`/v1/deployments/${ids["deployment_id"]}/promote`, {
          environment_id: project.default_environment_id,
        }),
      409,
    ],
    [
      "a variable's name that is taken",
      ({ world, ids }) =>
        world.client.post(`/v1/environments/${ids["environment_id"]}/variables`, variable("A")),
      409,
    ],
  ];

  it.each(refusals)("has no changelog entry: %s", async (_, refused, status) => {
    const fixture = await newFixture();
    const before = await listChangelog(fixture, fixture.project.id);
    expect((await refused(fixture)).status).toBe(status);
    expect(await listChangelog(fixture, fixture.project.id)).toEqual(before);
  });

  it("has no changelog entry: the second of two concurrent deletions", async () => {
    const fixture = await newFixture();
    const path = `/v1/components/${fixture.ids["component_id"]}`;
    await Promise.all([1, 2].map(() => fixture.world.client.delete(path)));
    const entries = await listChangelog(fixture, fixture.project.id);
    expect(entries.filter(({ action }) => action === "deleted")).toHaveLength(1);
  });
});

it("the newest entry equals the record after concurrent updates", async () => {
  const { world, project } = await newFixture();
  const path = `/v1/projects/${project.id}`;
  const put = async (name: string) => {
    const { client } = await newKey(world);
    return client.put(path, { name, default_environment_id: project.default_environment_id });
  };
  for (let round = 1; round <= 20; round += 1) {
    const { body: was } = await (await newKey(world)).client.get(path);
    await Promise.all([put(`name ${round}`), put(was.name), put(`name ${round}`), put(was.name)]);
    const { client } = await newKey(world);
    const { body: is } = await client.get(path);
    const [newest] = (await client.get(`${path}/changelog?limit=1`)).body.data;
    expect(newest.after?.name ?? is.name).toBe(is.name);
  }
});

it("concurrent bulk requests record every variable that they write or delete", async () => {
  const fixture = await newFixture();
  const path = `/v1/environments/${fixture.ids["environment_id"]}/variables`;
  const names = ["A", "B", "C", "D"];
  const write = async (round: number) => {
    const { client } = await newKey(fixture.world);
    const variables = names.filter((_, at) => (at + round) % 2 === 0).map(variable);
    const mode = round % 3 === 0 ? "merge" : "replace";
    return (await client.put(path, { mode, variables })).status;
  };
  const statuses = await Promise.all([0, 1, 2, 3, 4, 5].map(write));
  expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);

  // Applying the entries in order gives the current variables.
  const counts = new Map<string, number>();
  const entries = await listChangelog(fixture, fixture.project.id);
  const ofVariables = entries.filter(({ record }) => record.type === "variable");
  for (const { record, action } of ofVariables) {
    if (action === "created") counts.set(record.id, (counts.get(record.id) ?? 0) + 1);
    if (action === "deleted") counts.set(record.id, (counts.get(record.id) ?? 0) - 1);
  }
  const { body } = await fixture.world.client.get(path);
  const current = [...counts].filter(([, count]) => count === 1).map(([id]) => id);
  expect(current.toSorted()).toEqual(body.data.map(({ id }: Parsed) => id).toSorted());
  for (const { id, version } of body.data) {
    const rises = ofVariables.filter(
      ({ record, action }) => record.id === id && action === "updated",
    );
    expect(version).toBe(1 + rises.length);
  }
});

it("an entry is kept after its record is deleted, and has only the size of a large field", async () => {
  const { world, project } = await newFixture();
  const text = "x".repeat(20_000);
  const { body } = await world.client.post(`/v1/projects/${project.id}/environments`, {
    name: "large",
    configuration: { text },
  });
  await world.client.delete(`/v1/environments/${body.id}`);
  const { body: log } = await world.client.get(`/v1/projects/${project.id}/changelog`);
  const [gone, made] = log.data;
  const configuration = { characters: JSON.stringify({ text }).length };
  expect([gone.action, made.action]).toEqual(["deleted", "created"]);
  expect(gone.before).toMatchObject({ name: "large", configuration });
  expect(made.after).toMatchObject({ name: "large", configuration });
});

it("an entry has a field of 16 KiB of UTF-8, and only the size of a longer one", async () => {
  const { world, project } = await newFixture();
  const textOf = (bytes: number) => "é".repeat((bytes - JSON.stringify({ text: "" }).length) / 2);
  const limit = LIMITS.recordedFieldBytes.value;
  for (const [name, bytes] of [
    ["fits", limit - 1],
    ["too-long", limit + 1],
  ] as const) {
    const configuration = { text: textOf(bytes) };
    const { status } = await world.client.post(`/v1/projects/${project.id}/environments`, {
      name,
      configuration,
    });
    expect(status).toBe(201);
    const { body: log } = await world.client.get(`/v1/projects/${project.id}/changelog`);
    const { length } = JSON.stringify(configuration);
    expect(length).toBeLessThan(limit);
    const recorded = bytes > limit ? { characters: length } : configuration;
    expect(log.data[0].after.configuration).toEqual(recorded);
  }
});

it("has the order of the writes if the clocks of two isolates differ", async () => {
  const { world, project } = await newFixture();
  const other = await newProject(world.client);
  const now = Date.now() + 60_000;
  const at = (time: number) =>
    world.client.via(new Instrumented({ clock: { now: () => time } }).fetch);
  const [fast, slow] = [at(now + 5_000), at(now)];
  for (const name of ["first", "third"]) await fast.patch(`/v1/projects/${project.id}`, { name });
  await slow.patch(`/v1/projects/${project.id}`, { name: "fourth" });
  await slow.patch(`/v1/projects/${other.id}`, { name: "another" });
  const namesOf = async ({ id }: Parsed) =>
    (await world.client.get(`/v1/projects/${id}/changelog?limit=3`)).body.data.map(
      ({ after }: Parsed) => after.name,
    );
  expect(await namesOf(project)).toEqual(["fourth", "third", "first"]);
  const [own] = (await world.client.get(`/v1/projects/${other.id}/changelog?limit=1`)).body.data;
  // The entries of another project do not move it.
  expect(own.created_at).toBe(new Date(now).toISOString());
});

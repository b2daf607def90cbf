import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { listAuditLog } from "../support/audit.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { joinProject } from "../support/protection.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let project: Parsed;
/** In the order of their creation. */
let ids: string[];

const newEnvironment = async (name: string): Promise<string> => {
  const { body } = await world.client.post(`/v1/projects/${project.id}/environments`, { name });
  return body.id;
};

const put = (environmentIds: readonly unknown[], client: Client = world.client, tag?: string) =>
  client.request(
    "PUT",
    `/v1/projects/${project.id}/environment-order`,
    { environment_ids: environmentIds },
    tag === undefined ? {} : { "if-match": tag },
  );

/** By the ID of an environment, as every response has it. */
async function positions(client = world.client): Promise<Record<string, number | undefined>> {
  const lists = [
    await client.get(`/v1/projects/${project.id}/environments`),
    await client.get(`/v1/projects/${project.id}/overview`),
  ];
  const [listed, inOverview] = lists.map(({ body }) =>
    Object.fromEntries(body.data.map((each: Parsed) => [each["id"], each["position"]])),
  );
  expect(inOverview).toEqual(listed);
  for (const [id, position] of Object.entries(listed ?? {})) {
    const { body } = await client.get(`/v1/environments/${id}`);
    expect(body.position).toBe(position);
  }
  return listed ?? {};
}

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  ids = [project.default_environment_id, await newEnvironment("b"), await newEnvironment("c")];
});

describe("the order of environments", () => {
  it("has an entry in the changelog when a new environment becomes the first or stays the last", async () => {
    const [a = "", b = "", c = ""] = ids;
    await put([c, a, b]);
    const path = `/v1/projects/${project.id}/changelog?limit=1`;
    const entry = async () => (await world.client.get(path)).body.data[0];
    const d = await newEnvironment("d");
    expect((await put([d, c, a, b])).status).toBe(200);
    expect(await entry()).toMatchObject({
      ...{ action: "updated", before: { environment_ids: [c, a, b, d] } },
      after: { environment_ids: [d, c, a, b], environments: 4 },
    });
    const e = await newEnvironment("e");
    expect((await put([c, d, a, b, e])).status).toBe(200);
    expect(await entry()).toMatchObject({
      ...{ action: "updated", before: { environment_ids: [d, c] } },
      after: { environment_ids: [c, d], environments: 2 },
    });
  });

  it("is what an owner sets, with new ones last, and without those that are deleted", async () => {
    const [a = "", b = "", c = ""] = ids;
    expect(await positions()).toEqual({ [a]: undefined, [b]: undefined, [c]: undefined });
    const { status, body } = await put([c, a, b]);
    expect(status).toBe(200);
    expect(body).toEqual((await world.client.get(`/v1/projects/${project.id}`)).body);
    expect(await positions()).toEqual({ [c]: 1, [a]: 2, [b]: 3 });
    const renamed = await world.client.patch(`/v1/environments/${a}`, { name: "renamed" });
    expect([renamed.status, renamed.body.position]).toEqual([200, 2]);
    const d = await newEnvironment("d");
    expect(await positions()).toEqual({ [c]: 1, [a]: 2, [b]: 3, [d]: undefined });
    await world.client.delete(`/v1/environments/${c}`);
    expect(await positions()).toEqual({ [a]: 2, [b]: 3, [d]: undefined });
    expect((await put([d, b, a])).status).toBe(200);
    expect(await positions()).toEqual({ [d]: 1, [b]: 2, [a]: 3 });
  });

  it("leaves the environments of another project, and their names and versions, as they are", async () => {
    const other = await newProject(world.client, { name: "other" });
    const read = async (id: string) => (await world.client.get(`/v1/environments/${id}`)).headers;
    const versionOf = async (id: string) => (await read(id)).get("etag")?.split(".")[0];
    const before = await Promise.all([...ids, other.default_environment_id].map(versionOf));
    await put(ids.toReversed());
    expect(await Promise.all([...ids, other.default_environment_id].map(versionOf))).toEqual(
      before,
    );
    const { body } = await world.client.get(`/v1/environments/${other.default_environment_id}`);
    expect(body).not.toHaveProperty("position");
  });

  it("names each environment of the project once", async () => {
    const [a, b, c] = ids;
    const other = await newProject(world.client, { name: "other" });
    const foreign = (await newProject((await newWorld()).client)).default_environment_id;
    const before = await positions();
    expect((await put([a, b])).status).toBe(409);
    expect((await put([])).status).toBe(409);
    for (const id of [newId(systemClock), other.default_environment_id, foreign]) {
      const { status, body } = await put([a, b, c, id]);
      expect([status, body.code]).toEqual([404, "not_found"]);
      expect((await put([a, b, id])).status).toBe(404);
    }
    for (const wrong of [[a, b, c, c], [a, a, b], ["x", a, b, c], "x"]) {
      expect((await put(wrong as unknown[])).status).toBe(400);
    }
    const many = Array.from({ length: LIMITS.orderedEnvironments.value + 1 }, () =>
      newId(systemClock),
    );
    expect((await put(many)).status).toBe(400);
    expect((await put(many.slice(1))).status).toBe(404);
    expect(await positions()).toEqual(before);
  });
});

describe("the order of environments is refused", () => {
  it("to contributors of the project, and to keys of environments", async () => {
    const statusFor = async (client: Client) => (await put(ids.toReversed(), client)).status;
    const before = await positions();
    const contributor = await joinProject(world, project.id, "contributor");
    const narrowed = await newKey(world, { environmentIds: ids });
    for (const { client } of [contributor, narrowed]) expect(await statusFor(client)).toBe(403);
    expect(await positions()).toEqual(before);
    expect(await statusFor((await joinProject(world, project.id, "owner")).client)).toBe(200);
    expect(await statusFor((await join(world, "admin")).client)).toBe(200);
    expect(await positions()).toEqual({
      [String(ids[2])]: 1,
      [String(ids[1])]: 2,
      [String(ids[0])]: 3,
    });
  });
});

describe("an order of as many environments as it can have", () => {
  let worker: Instrumented;
  let all: string[];

  beforeEach(async () => {
    worker = new Instrumented();
    const copies = newIdsOf(LIMITS.orderedEnvironments.value - ids.length);
    await copyRow(world.id, "environments", ids[0], copies, {
      name: "'copy-' || item.key",
      // Beyond a page of the database.
      configuration: "json_object('text', hex(zeroblob(4000)))",
    });
    all = await listIds();
    await put(all.toReversed());
    all.reverse();
  });

  async function listIds(): Promise<string[]> {
    const { results } = await env.DB.prepare(
      "select id from environments where project_id = ? order by created_at, id",
    )
      .bind(project.id)
      .all<{ id: string }>();
    return results.map(({ id }) => id);
  }

  const placesOf = async (): Promise<string[]> => {
    const { results } = await env.DB.prepare(
      `select id from environments join environment_positions on environment_id = id
        where project_id = ? order by environment_positions.position`,
    )
      .bind(project.id)
      .all<{ id: string }>();
    return results.map(({ id }) => id);
  };

  const cost = async (environmentIds: readonly string[]) => {
    worker.forget();
    const { status } = await put(environmentIds, world.client.via(worker.fetch));
    expect(status).toBe(200);
    return Math.max(...worker.database.map(({ rowsWritten = 0 }) => rowsWritten));
  };

  it("writes one row for each that moved", async () => {
    expect(await placesOf()).toEqual(all);
    const swapped = [...all.slice(0, -2), ...all.slice(-2).toReversed()];
    const few = await cost(swapped);
    expect(await placesOf()).toEqual(swapped);
    expect(few).toBeLessThan(30);
    const moved = [String(swapped.at(-1)), ...swapped.slice(0, -1)];
    const many = await cost(moved);
    expect(await placesOf()).toEqual(moved);
    expect(many - few).toBe(all.length - 3);
  });

  it("has the first that moved in the changelog and the audit log, and their number", async () => {
    const [first = "", second = ""] = all;
    const reversed = all.toReversed();
    await put(reversed);
    await put([...reversed.slice(0, -2), first, second]);
    const changelog = await world.client.get(`/v1/projects/${project.id}/changelog?limit=2`);
    const audited = (await listAuditLog(world, `&project_id=${project.id}`)).slice(-2).toReversed();
    for (const [swap, reversal] of [changelog.body.data, audited.map(({ changes }) => changes)]) {
      expect([swap.before, swap.after]).toEqual([
        { environment_ids: [second, first] },
        { environment_ids: [first, second], environments: 2 },
      ]);
      expect([reversal.before, reversal.after]).toEqual([
        { environment_ids: all.slice(0, 10) },
        { environment_ids: reversed.slice(0, 10), environments: all.length },
      ]);
    }
  });
});

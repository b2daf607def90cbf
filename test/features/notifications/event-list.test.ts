import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENT_TYPES } from "../../../src/features/housekeeping/outbox/events.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import { expectIndexed, expectIndexedPages } from "../../support/lists.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { newInside, newKey, newProject, newWorld, type World } from "../../support/world.ts";

let world: World;
let project: Parsed;
let path: string;

beforeAll(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  path = `/v1/projects/${project.id}/events`;
});

const at = (ms: number) => new Date(ms).toISOString();

/** Inserts events of each type, `count` in total, one millisecond apart from time `from`. */
async function insertEvents(
  projectId: string,
  environmentIds: readonly (string | null)[],
  { count, from }: { count: number; from: number },
): Promise<void> {
  const items = Array.from({ length: count }, (_, index) => ({
    id: newId(systemClock),
    type: EVENT_TYPES[index % EVENT_TYPES.length],
    environmentId: environmentIds[Math.floor(index / EVENT_TYPES.length) % environmentIds.length],
    at: from + index,
  }));
  await env.DB.prepare(
    `insert into events select value ->> 'id', ?2, ?3, value ->> 'environmentId', value ->> 'type',
       json_object('index', key), value ->> 'at', value ->> 'at' from json_each(?1)`,
  )
    .bind(JSON.stringify(items), world.id, projectId)
    .run();
}

describe("the events of a project", () => {
  it("has events that no integration receives, with the body that webhooks get", async () => {
    const { client } = await newKey(world);
    const { id, default_environment_id } = await newProject(client);
    const events = `/v1/projects/${id}/events`;
    await newIntegration(client, id, ["services_in_alarm"]);
    const { stack_id } = await newInside(client, default_environment_id);
    await client.put(`/v1/stacks/${stack_id}/alarms/cpu`, { state: "alarm", reason: "p99 > 2 s" });
    const { body } = await client.get(events);
    const [alarm, ...others] = body.data;
    const [delivery, ...more] = await listDeliveries(id);
    expect(more).toEqual([]);
    expect(alarm).toEqual({
      id: delivery?.event_id,
      type: "services.in_alarm",
      environment_id: default_environment_id,
      created_at: expect.any(String),
      data: delivery?.data,
    });
    expect(new Set(others.map(({ type }: Parsed) => type))).toEqual(new Set(["changelog.created"]));
    expect(others.some((each: Parsed) => "environment_id" in each)).toBe(false);
  });

  it("is filtered by types, environment and time", async () => {
    const { client } = await newKey(world);
    const { id } = await newProject(client);
    const [one, two] = [newId(systemClock), newId(systemClock)];
    await insertEvents(id, [one, two, null], { count: 48, from: 1_000 });
    const list = async (query: string): Promise<Parsed[]> => {
      const { status, body } = await client.get(`/v1/projects/${id}/events?limit=240&${query}`);
      expect(status, query).toBe(200);
      return body.data.filter((each: Parsed) => Date.parse(each.created_at) < 2_000);
    };
    const all = await list("sort_by=created_at");
    expect(all).toHaveLength(48);
    const expectFiltered = async (query: string, matches: (each: Parsed) => boolean) => {
      const expected = all.filter(matches);
      expect(expected.length, query).toBeGreaterThan(0);
      expect(expected.length, query).toBeLessThan(48);
      expect(await list(`sort_by=created_at&${query}`), query).toEqual(expected);
    };
    const time = (each: Parsed) => Date.parse(each.created_at);
    await expectFiltered("type=services.ok", ({ type }) => type === "services.ok");
    await expectFiltered("type=services.ok,deployments.failed&type=ping", ({ type }) =>
      ["services.ok", "deployments.failed", "ping"].includes(type),
    );
    await expectFiltered(`environment_id=${two}`, (each) => each.environment_id === two);
    await expectFiltered(`from=${at(1_010)}`, (each) => time(each) >= 1_010);
    await expectFiltered(`to=${at(1_010)}`, (each) => time(each) < 1_010);
    await expectFiltered(
      `type=services.ok,ping&environment_id=${one}&from=${at(1_001)}&to=${at(1_040)}`,
      (each) =>
        ["services.ok", "ping"].includes(each.type) &&
        each.environment_id === one &&
        time(each) >= 1_001 &&
        time(each) < 1_040,
    );
    expect(await list(`environment_id=${newId(systemClock)}`)).toEqual([]);
  });

  it("rejects an unknown type, and a range that ends before it begins", async () => {
    const { client } = await newKey(world);
    for (const [query, field] of [
      ["type=deployments.lost", "type"],
      ["environment_id=x", "environment_id"],
      ["from=yesterday", "from"],
      [`from=${at(2)}&to=${at(1)}`, "to"],
    ]) {
      const { status, body } = await client.get(`${path}?${query}`);
      expect([status, body.code], query).toEqual([400, "bad_input"]);
      expect(body.cause.issues[0].path, query).toContain(field);
    }
  });

  it("shows a narrowed key only the events of its environments and of the project", async () => {
    const { id } = await newProject((await newKey(world)).client);
    const [mine, other] = [newId(systemClock), newId(systemClock)];
    await insertEvents(id, [mine, other, null], { count: 48, from: 1_000 });
    const { client } = await newKey(world, { environmentIds: [mine], projectIds: [id] });
    const { body } = await client.get(`/v1/projects/${id}/events?limit=240`);
    const seen = new Set(body.data.map((each: Parsed) => each.environment_id));
    expect(seen).toEqual(new Set([mine, undefined]));
    const hidden = await client.get(`/v1/projects/${id}/events?environment_id=${other}`);
    expect(hidden.body.data).toEqual([]);
  });

  it.each([
    "",
    "type=services.ok",
    "type=services.ok,services.in_alarm,deployments.failed",
    "environment_id=ENVIRONMENT",
    "type=services.ok&environment_id=ENVIRONMENT",
    `from=${at(1_100)}&to=${at(9_000)}`,
  ])("reads only the rows of a page, by an index: %s", async (query) => {
    const { client } = await newKey(world);
    const { id, default_environment_id } = await newProject(client);
    const other = newId(systemClock);
    await insertEvents(id, [default_environment_id, other, null], { count: 2_000, from: 1_000 });
    const filter = query.replace("ENVIRONMENT", default_environment_id);
    for (const sort_by of ["created_at", "-created_at"]) {
      const events = `/v1/projects/${id}/events?${filter}`;
      await expectIndexedPages(client, events, { sort_by, limit: 10 });
    }
  });

  it("skips, by an index, to the time that a filter names", async () => {
    const worker = new Instrumented();
    const client = (await newKey(world)).client.via(worker.fetch);
    const { id } = await newProject(client);
    await insertEvents(id, [null], { count: 2_000, from: 1_000 });
    worker.forget();
    const query = `from=${at(2_990)}&to=${at(3_000)}&sort_by=created_at&limit=10`;
    const { body } = await client.get(`/v1/projects/${id}/events?${query}`);
    expect(body.data).toHaveLength(10);
    await expectIndexed(worker.database, 10);
  });
});

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed } from "../../support/client.ts";
import { webhookViolations } from "../../support/contract.ts";
import { clearOutbox } from "../../support/delivery-harness.ts";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { join, newKey, newProject, newWorld, type World } from "../../support/world.ts";

const MOST_ENTRIES = 50;
const INTEGRATIONS = 20;
const MOST_BYTES = 32 * 1024;

let world: World;
let client: Client;
let project: Parsed;
let path: string;

beforeEach(async () => {
  world = await newWorld();
  client = world.client;
  project = await newProject(client);
  path = `/v1/environments/${project.default_environment_id}/variables`;
});

const variables = (count: number, from = 0, value = "v") =>
  Array.from({ length: count }, (_, at) => ({
    name: `V${String(from + at).padStart(3, "0")}`,
    storage_method: "string",
    value,
  }));

const put = (mode: string, sent: object[]) => client.put(path, { mode, variables: sent });

const countEntries = () =>
  env.DB.prepare("select count(*) as count from changelog_entries where project_id = ?")
    .bind(project.id)
    .first("count");

/** The distinct events in the outbox of the project. */
async function eventsOf(): Promise<Parsed> {
  const deliveries = await listDeliveries(project.id);
  return [...new Map(deliveries.map((each) => [each.event_id, each])).values()];
}

describe("a request that makes many changes", () => {
  it("has one event with the first 50 changes and the count, and a changelog with all changes", async () => {
    for (let at = 0; at < INTEGRATIONS; at += 1) {
      await newIntegration(client, project.id, ["changelog"]);
    }
    await clearOutbox();
    expect((await put("merge", variables(200))).status).toBe(200);

    const deliveries = await listDeliveries(project.id);
    expect(deliveries).toHaveLength(INTEGRATIONS);
    expect(new Set(deliveries.map(({ event_id }) => event_id)).size).toBe(1);
    expect(new Set(deliveries.map(({ integration_id }) => integration_id)).size).toBe(INTEGRATIONS);
    expect(await countEntries()).toBe(200);
    const data = deliveries[0]?.data;
    expect(data).toMatchObject({ count: 200, account_id: world.accountId, action: "created" });
    const names = variables(MOST_ENTRIES).map(({ name }) => name);
    expect(data.entries.map(({ record }: Parsed) => record.name)).toEqual(names);
    expect(data).toMatchObject(data.entries[0]);
  });

  it("has one event for its deletions and its writes", async () => {
    await put("merge", variables(3));
    const integration = await newIntegration(client, project.id, ["changelog"]);
    await clearOutbox();
    expect((await put("replace", variables(3, 2, "w"))).status).toBe(200);
    const events = await eventsOf();
    expect(events).toHaveLength(1);
    const { entries, count } = events[0].data;
    const recorded = entries.map(({ action, record }: Parsed) => `${record.name} ${action}`);
    expect(recorded.slice(0, 2).toSorted()).toEqual(["V000 deleted", "V001 deleted"]);
    expect(recorded.slice(2)).toEqual(["V002 updated", "V003 created", "V004 created"]);
    expect([count, await countEntries()]).toEqual([5, 5]);

    const root = `/v1/projects/${project.id}/notification-integrations/${integration.id}`;
    const { body: listed } = await client.get(`${root}/deliveries`);
    const { body } = await client.get(`${root}/deliveries/${listed.data[0].id}`);
    expect(webhookViolations(body.payload)).toEqual([]);
  });

  it.each([
    ["only deletes", [], ["V000 deleted", "V001 deleted"]],
    ["only writes", variables(3, 0, "w"), ["V000 updated", "V001 updated", "V002 created"]],
  ])("has one event when it %s", async (_, sent, expected) => {
    await put("merge", variables(2));
    await newIntegration(client, project.id, ["changelog"]);
    await clearOutbox();
    expect((await put("replace", sent)).status).toBe(200);
    const events = await eventsOf();
    expect(events).toHaveLength(1);
    const recorded = events[0].data.entries.map((e: Parsed) => `${e.record.name} ${e.action}`);
    expect(recorded.toSorted()).toEqual(expected);
  });

  it("has one event for the members that it adds", async () => {
    const members = [await join(world), await join(world), await join(world)];
    await newIntegration(client, project.id, ["changelog"]);
    await clearOutbox();
    const member_ids = members.map(({ membershipId }) => membershipId);
    const reply = await client.post(`/v1/projects/${project.id}/members`, { member_ids });
    expect(reply.status).toBe(201);
    const events = await eventsOf();
    expect(events).toHaveLength(1);
    expect(events[0].data.entries.map(({ record }: Parsed) => record.id)).toEqual(member_ids);
    expect(events[0].data.count).toBe(3);
  });

  it("has no event when it changes nothing", async () => {
    await newIntegration(client, project.id, ["changelog"]);
    await clearOutbox();
    expect((await put("merge", [])).status).toBeLessThan(500);
    expect((await put("replace", [])).status).toBeLessThan(500);
    expect(await eventsOf()).toEqual([]);
    expect(await countEntries()).toBe(0);
    await put("replace", variables(2));
    await clearOutbox();
    for (const mode of ["merge", "replace"]) {
      expect((await put(mode, variables(2))).status).toBe(200);
    }
    expect(await eventsOf()).toEqual([]);
    expect(await countEntries()).toBe(0);
  });
});

it("limits its event to 32 KB, and names in it to 100 characters", async () => {
  // A variable's name has at most 255 letters; other stored names may have more bytes.
  const long = variables(MOST_ENTRIES + 1).map(({ name, ...rest }) => ({
    ...rest,
    name: name.padEnd(255, "x"),
  }));
  await newIntegration(client, project.id, ["changelog"]);
  await env.DB.prepare(
    `create trigger long_names after insert on changelog_entries
      when new.project_id = '${project.id}'
      begin update changelog_entries set record_name = replace(hex(zeroblob(64)), '00', '😀😀')
        where id = new.id; end`,
  ).run();
  await clearOutbox();
  const { client: caller } = await newKey(world);
  expect((await caller.put(path, { mode: "merge", variables: long })).status).toBe(200);
  await env.DB.prepare("drop trigger long_names").run();
  const [event] = await eventsOf();
  expect(event?.data.entries).toHaveLength(MOST_ENTRIES);
  expect(event?.data.entries[0].record.name).toBe("😀".repeat(100));
  const envelope = 200;
  const bytes = new TextEncoder().encode(JSON.stringify(event?.data)).length;
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes + envelope).toBeLessThan(MOST_BYTES);
});

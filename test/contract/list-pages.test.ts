import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { DEPLOYMENT_STATUSES } from "../../src/features/deployments/deployments/lifecycle.ts";
import { isList } from "../support/all-reads.ts";
import { Client, type Parsed } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { expectIndexed } from "../support/lists.ts";
import { addDeployments, lengthenLists } from "../support/long-lists.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import { join, newKey, newWorld, signIn, type World } from "../support/world.ts";

const ROWS = 100;
const LIMIT = 20;
/** Rows with the same creation time, so that pages end between them. */
const TIES = 35;
/** Lists of the caller's organizations, which are few. */
const SHORT = ["listOrganizations", "listSessionOrganizations"];
const STATUSES = ["failed", "failed,succeeded", DEPLOYMENT_STATUSES.slice(0, -1).join()];
const OF_DEPLOYMENTS = ["listDeployments", "listEnvironmentDeployments", "listStackDeployments"];
/** Lists of one table with an index in their order; list-cost.test.ts counts the rows of the others. */
const INDEXED = [
  ...OF_DEPLOYMENTS,
  "listStackResources",
  "listEnvironmentResources",
  "listDeliveries",
  "listAlarms",
  "listChangelog",
  "listRunnerPools",
];

let world: World;
let ids: Ids;

beforeAll(async () => {
  world = await newWorld();
  ids = await newIds(world);
  await world.client.put(`/v1/stacks/${ids["stack_id"]}/alarms/first`, { state: "ok" });
  await lengthenLists(world, ids, ROWS);
  const stackIds = [String(ids["stack_id"])];
  for (const status of ["'succeeded'", "'canceled'"])
    await addDeployments(world, ids, ROWS / 4, stackIds, { status, announced: status });
  await makeTies();
});

/** Rounds every time of a creation. */
async function makeTies(): Promise<void> {
  const { results } = await env.DB.prepare(
    "select name, sql from sqlite_master where type = 'table' and sql like '%created_at%'",
  ).all<{ name: string; sql: string }>();
  const updates = results.flatMap(({ name, sql }) =>
    [...new Set(sql.match(/\b\w*created_at\b/g))].map((column) =>
      env.DB.prepare(`update "${name}" set ${column} = ${column} - ${column} % ${TIES}`),
    ),
  );
  await env.DB.batch(updates);
}

async function clientFor({ path, security }: Operation): Promise<Client> {
  if (path.startsWith("/v1/runner/")) return new Client(ids["runner"]);
  const isOpenToKeys = security.some((each) => "api_key" in each);
  return (isOpenToKeys ? await newKey(world) : await signIn(await join(world))).client;
}

const idOf = (each: Parsed): string =>
  each["id"] ??
  each["membership_id"] ??
  each["attempt_id"] ??
  each["deployment_id"] ??
  each["name"];

/** Reads a list in pages, and expects them to be what one page of all has, in the order of creation. */
async function expectPages(client: Client, path: string, order: string, isIndexed: boolean) {
  const worker = new Instrumented();
  const caller = client.via(worker.fetch);
  const list = `${path}${path.includes("?") ? "&" : "?"}sort_by=${encodeURIComponent(order)}`;
  const { body: whole } = await caller.get(`${list}&limit=240`);
  const seen: string[] = [];
  for (let after = ""; seen.length < 5 * LIMIT; ) {
    worker.forget();
    const { body } = await caller.get(`${list}&limit=${LIMIT}${after}`);
    seen.push(...body.data.map(idOf));
    if (isIndexed) await expectIndexed(worker.database, LIMIT);
    if (!body.has_more) break;
    expect(body.data).toHaveLength(LIMIT);
    after = `&after=${encodeURIComponent(body.next_page)}`;
  }
  const all: string[] = whole.data.map(idOf);
  expect(new Set(all).size).toBe(all.length);
  expect(seen).toEqual(all.slice(0, 5 * LIMIT));
  const times: string[] = whole.data.map((each: Parsed) => each["created_at"]);
  const ascending = times.toSorted();
  expect(times).toEqual(order === "-created_at" ? ascending.toReversed() : ascending);
  return whole.data as Parsed[];
}

const lists = operations
  .filter((each) => isList(each) && !SHORT.includes(each.operationId))
  .map((each) => [each.operationId, each] as const);

describe.each(["+created_at", "-created_at"])("a list in the order %s", (order) => {
  it.each(lists)("has each row once, over all of its pages: %s", async (id, operation) => {
    const path = pathWith(operation, ids);
    const rows = await expectPages(await clientFor(operation), path, order, INDEXED.includes(id));
    expect(rows.length).toBeGreaterThanOrEqual(ROWS);
  });

  it.each(
    lists
      .filter(([id]) => OF_DEPLOYMENTS.includes(id))
      .flatMap(([id, operation]) => STATUSES.map((statuses) => [id, statuses, operation] as const)),
  )("has only deployments with the given statuses: %s, %s", async (_, statuses, operation) => {
    const path = `${pathWith(operation, ids)}?status=${statuses}`;
    const rows = await expectPages((await newKey(world)).client, path, order, true);
    const found = new Set(rows.map(({ status }) => status));
    expect(statuses.split(",")).toEqual(expect.arrayContaining([...found]));
    expect(rows.length).toBeGreaterThan(LIMIT);
  });

  it.each(["", ...STATUSES])(
    "merges the deployments of a member's projects: %s",
    async (statuses) => {
      const { client, membershipId } = await join(world);
      const { body: projects } = await world.client.get("/v1/projects?limit=100");
      const some: string[] = projects.data.slice(0, 3).map(({ id }: Parsed) => id);
      for (const id of [...some, ids["project_id"]]) {
        await world.client.post(`/v1/projects/${id}/members`, { member_ids: [membershipId] });
      }
      const path = `/v1/deployments?status=${statuses || DEPLOYMENT_STATUSES.join()}`;
      const rows = await expectPages(client, path, order, false);
      const { body } = await (await newKey(world)).client.get(
        `${path}&limit=240&sort_by=${encodeURIComponent(order)}`,
      );
      expect(rows.map(idOf)).toEqual(body.data.map(idOf));
    },
  );
});

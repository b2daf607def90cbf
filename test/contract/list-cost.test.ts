import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { isList } from "../support/all-reads.ts";
import { Client, type Parsed } from "../support/client.ts";
import { type Operation, operations } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { addDeployments, lengthenLists } from "../support/long-lists.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import { join, newKey, newWorld, signIn, type World } from "../support/world.ts";

const ROWS = 120;
const LIMIT = 100;
const STACKS = 500;
/** The rows for each row that is sent. */
const MOST = 3;
/** Who may see the list, and the item after the page. */
const ONCE = 14;

/** Rows of other tables that an item consists of, apart from those whose IDs or names it lists. */
const JOINED: Record<string, (item: Parsed) => number> = {
  listMembers: () => 1,
  listServiceAccounts: () => 1,
  listProjectMembers: () => 2,
  listAttempts: () => 1,
  getProjectOverview: ({ active_deployment, last_deployment }) =>
    Number(active_deployment !== undefined) + Number(last_deployment !== undefined),
};

/** Lists with another bound. */
const OTHERS: Record<string, number> = {
  // The stack of each resource, which may have been deleted.
  listEnvironmentResources: 4,
};

/** They order a whole family, which the quotas bound. */
const FAMILIES = ["listApiKeyFamily", "listMemberFamily", "listSessionFamily"];
/** Of the organizations of an account: one, to a key. */
const SHORT = ["listOrganizations", "listSessionOrganizations"];

let world: World;
let ids: Ids;
let stackIds: string[];

beforeAll(async () => {
  world = await newWorld();
  ids = await newIds(world);
  await world.client.put(`/v1/stacks/${ids["stack_id"]}/alarms/first`, { state: "ok" });
  await lengthenLists(world, ids, ROWS);
  const { results } = await env.DB.prepare("select id from stacks where environment_id = ?")
    .bind(ids["environment_id"] ?? null)
    .all<{ id: string }>();
  const others = Array.from({ length: STACKS }, () => newId(systemClock));
  stackIds = [...results.map(({ id }) => id), ...others].slice(0, STACKS);
});

/** The rows that an item consists of. */
function rowsOf(operationId: string, item: Parsed): number {
  const listed = [item, item.deployment ?? {}].flatMap((each) => [
    ...(each.stack_ids ?? []),
    ...(each.environment_ids ?? []),
    ...(each.variable_names ?? []),
  ]);
  return 1 + listed.length + (JOINED[operationId]?.(item) ?? 0);
}

async function clientFor({ path, security }: Operation): Promise<Client> {
  if (path.startsWith("/v1/runner/")) return new Client(ids["runner"]);
  const person = await newKey(world);
  return security.some((each) => "api_key" in each)
    ? person.client
    : (await signIn(await join(world))).client;
}

async function readList(operation: Operation, path: string) {
  const worker = new Instrumented();
  const client = (await clientFor(operation)).via(worker.fetch);
  await client.get(`${path}?limit=1`);
  worker.forget();
  const { body, status, text } = await client.get(
    path.includes("?") ? path : `${path}?limit=${LIMIT}`,
  );
  expect(status, text).toBe(200);
  const statements = worker.database.flatMap((exchange) => exchange.statements);
  let read = 0;
  for (const { sql, params } of statements.filter((each) => /^\s*(select|with)/i.test(each.sql))) {
    const { meta } = await env.DB.prepare(sql)
      .bind(...params)
      .all();
    read += meta.rows_read;
  }
  const items: Parsed[] = body.data;
  const sent = items.reduce((sum, item) => sum + rowsOf(operation.operationId, item), 0);
  return { items, sent, read };
}

const lists = operations.filter(isList).map((each) => [each.operationId, each] as const);
const operationNamed = (id: string) => {
  const found = lists.find(([operationId]) => operationId === id);
  if (!found) throw new Error(`There is no list ${id}`);
  return found[1];
};

describe("a list", () => {
  it.each(lists.filter(([id]) => !FAMILIES.includes(id)))(
    "(%s) reads at most three rows for each row that it sends",
    async (operationId, operation) => {
      for (const order of ["%2Bcreated_at", "-created_at"]) {
        const path = `${pathWith(operation, ids)}?limit=${LIMIT}&sort_by=${order}`;
        const { items, sent, read } = await readList(operation, path);
        if (!SHORT.includes(operationId)) expect(items).toHaveLength(LIMIT);
        expect(read).toBeGreaterThan(0);
        expect(read).toBeLessThanOrEqual((OTHERS[operationId] ?? MOST) * sent + ONCE);
      }
    },
  );

  it.each(FAMILIES)("(%s) is bounded by the quotas alone", async (operationId) => {
    const operation = operationNamed(operationId);
    const { items, sent, read } = await readList(operation, pathWith(operation, ids));
    expect(items).toHaveLength(LIMIT);
    expect(read).toBeGreaterThan(MOST * sent + ONCE);
  });
});

describe("a list of deployments of 500 stacks", () => {
  const RELEASES = { new: String(STACKS), previous: "null" };

  it.each(Object.entries(RELEASES))(
    "(created by a Worker of the %s release) reads no stacks but those that it sends",
    async (_, count) => {
      await addDeployments(world, ids, 40, stackIds, { stack_count: count });
      for (const id of ["listDeployments", "listEnvironmentDeployments", "listStackDeployments"]) {
        const operation = operationNamed(id);
        const path = `${pathWith(operation, ids)}?limit=240`;
        const { items, sent, read } = await readList(operation, path);
        expect(items.length).toBeGreaterThan(10);
        expect(items.length).toBeLessThan(20);
        expect(items[0].stack_ids).toHaveLength(STACKS);
        expect(read).toBeLessThanOrEqual(MOST * sent);
      }
    },
  );

  it("has one deployment on a page if the reasons of its stacks fill it", async () => {
    const [one] = await addDeployments(world, ids, 2, stackIds, { stack_count: String(STACKS) });
    const reasons = env.DB.prepare(
      "update deployment_stacks set status_reason = ?1 where deployment_id = ?2",
    );
    await reasons.bind("界".repeat(700), one).run();
    const operation = operationNamed("listEnvironmentDeployments");
    const { items, sent, read } = await readList(
      operation,
      `${pathWith(operation, ids)}?limit=240`,
    );
    expect(items.map(({ id }) => id)).not.toContain(one);
    expect(read).toBeLessThanOrEqual(MOST * sent);
    await reasons.bind(null, one).run();
    const again = await readList(operation, `${pathWith(operation, ids)}?limit=240`);
    expect(again.items.map(({ id }) => id)).toContain(one);
  });
});

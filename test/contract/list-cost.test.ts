import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { Client, type Parsed } from "../support/client.ts";
import type { Operation } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { addDeployments, copyRow, lengthenLists, newIdsOf } from "../support/long-lists.ts";
import { type Ids, newIds, pathWith } from "../support/operations.ts";
import { join, newKey, newWorld, signIn, type World } from "../support/world.ts";
import {
  BRANCHES,
  BY_NAME,
  FAMILIES,
  filtersOf,
  isFilter,
  LISTS_OF_DEPLOYMENTS,
  lists,
  MOST,
  OF_ACTOR,
  ONCE,
  operationNamed,
  rowsOf,
  SHORT,
} from "./list-bounds.ts";

const ROWS = 120;
const LIMIT = 100;
const STACKS = 500;
/** Below the requests of a key that its limiter admits alone. */
const READS_PER_CALLER = 20;

let world: World;
let ids: Ids;
let stackIds: string[];

beforeAll(async () => {
  worker = new Instrumented();
  world = await newWorld();
  ids = await newIds(world);
  await world.client.put(`/v1/stacks/${ids["stack_id"]}/alarms/first`, { state: "ok" });
  await lengthenLists(world, ids, ROWS);
  const other = await newWorld();
  const otherIds = await newIds(other);
  await other.client.put(`/v1/stacks/${otherIds["stack_id"]}/alarms/first`, { state: "ok" });
  await lengthenLists(other, otherIds, ROWS);
  const { results } = await env.DB.prepare("select id from stacks where environment_id = ?")
    .bind(ids["environment_id"] ?? null)
    .all<{ id: string }>();
  const others = Array.from({ length: STACKS }, () => newId(systemClock));
  stackIds = [...results.map(({ id }) => id), ...others].slice(0, STACKS);
});

/** Has cached the credentials of its callers, whose own queries are no part of a list. */
let worker: Instrumented;
const callers = new Map<string, { client: Client; reads: number }>();

/** Each shares its rate limit with no other. */
async function newClient(kind: string): Promise<Client> {
  if (kind === "runner") return new Client(ids["runner"]);
  return (kind === "key" ? await newKey(world) : await signIn(await join(world))).client;
}

function kindOf({ path, security }: Operation): string {
  if (path.startsWith("/v1/runner/")) return "runner";
  return security.some((each) => "api_key" in each) ? "key" : "session";
}

async function clientFor(operation: Operation, path: string): Promise<Client> {
  const kind = kindOf(operation);
  const found = callers.get(kind);
  if (found && found.reads < READS_PER_CALLER) {
    found.reads += 1;
    return found.client;
  }
  const client = (await newClient(kind)).via(worker.fetch);
  await client.get(`${path}?limit=1`);
  callers.set(kind, { client, reads: 1 });
  return client;
}

async function readList(operation: Operation, path: string, caller?: Client) {
  const client = caller?.via(worker.fetch) ?? (await clientFor(operation, path));
  if (caller) await client.get(`${path}?limit=1`);
  worker.forget();
  const { body, status, text } = await client.get(
    path.includes("?") ? path : `${path}?limit=${LIMIT}`,
  );
  expect(status, `${path}: ${text}`).toBe(200);
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
  return { items, sent, read, next: body.next_page as string | undefined };
}

describe("a list", () => {
  it.each(lists.filter(([id]) => !FAMILIES.includes(id)))(
    "(%s) reads at most three rows for each row that it sends",
    async (operationId, operation) => {
      for (const order of ["%2Bcreated_at", "-created_at"]) {
        const path = `${pathWith(operation, ids)}?limit=${LIMIT}&sort_by=${order}`;
        const first = await readList(operation, path);
        if (!SHORT.includes(operationId)) expect(first.items).toHaveLength(LIMIT);
        const pages = [first];
        if (first.next) pages.push(await readList(operation, `${path}&after=${first.next}`));
        for (const { sent, read } of pages) {
          expect(read).toBeGreaterThan(0);
          expect(read).toBeLessThanOrEqual(MOST * sent + ONCE + (BRANCHES[operationId] ?? 0));
        }
      }
    },
  );

  it.each(lists.filter(([, { parameters = [] }]) => parameters.some(isFilter)))(
    "(%s) reads no more with each of its filters, and with all of them",
    async (operationId, operation) => {
      const filters = filtersOf(ids, operation);
      const all = [...new Map(filters)];
      for (const some of [...filters.map((each) => [each]), all]) {
        const query = some.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
        const path = `${pathWith(operation, ids)}?limit=${LIMIT}&${query}`;
        const { sent, read } = await readList(operation, path);
        const searched = BY_NAME.includes(operationId) ? 2 * ROWS : 0;
        // One more of each status or action.
        const values = query.split(/%2C/).length + (BRANCHES[operationId] ?? 0);
        expect(read, query).toBeLessThanOrEqual(MOST * (sent + searched) + ONCE + 2 * values);
      }
    },
  );

  it("of deployments that merges the projects of a member reads at most five rows for each", async () => {
    const member = await join(world);
    const members = `/v1/projects/${ids["project_id"]}/members`;
    await world.client.post(members, { member_ids: [member.membershipId] });
    const operation = operationNamed("listDeployments");
    for (const query of ["", "&status=failed,queued,succeeded"]) {
      const path = `/v1/deployments?limit=${LIMIT}${query}`;
      const { items, sent, read } = await readList(operation, path, member.client);
      expect(items).toHaveLength(LIMIT);
      expect(read).toBeLessThanOrEqual(5 * sent + ONCE);
    }
  });

  it.each(FAMILIES)("(%s) is bounded by the quotas alone", async (operationId) => {
    const operation = operationNamed(operationId);
    const { items, sent, read } = await readList(operation, pathWith(operation, ids));
    expect(items).toHaveLength(LIMIT);
    expect(read).toBeGreaterThan(MOST * sent + ONCE);
  });
});

describe("a list of deployments of 500 stacks", () => {
  it("reads no stacks but those that it sends", async () => {
    await addDeployments(world, ids, LIMIT, stackIds, { stack_count: String(STACKS) });
    for (const id of LISTS_OF_DEPLOYMENTS) {
      const operation = operationNamed(id);
      const path = `${pathWith(operation, ids)}?limit=240`;
      const { items, sent, read } = await readList(operation, path);
      expect(items.length).toBeGreaterThan(10);
      expect(items.length).toBeLessThan(20);
      expect(items[0].stack_ids).toHaveLength(STACKS);
      expect(read).toBeLessThanOrEqual(MOST * sent);
    }
  });

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

describe("a list that has to search", () => {
  const SEARCHED = LIMITS.searchedRows.value;
  /** A row of the list and of its owner, and its position once more. */
  const MOST_SEARCHED = 5 * SEARCHED + MOST * LIMIT + ONCE;

  /** The items of all pages, none of which may read more than `most`. */
  async function readAll(operation: Operation, query: string, most: number, client?: Client) {
    const path = `${pathWith(operation, ids)}?limit=${LIMIT}${query}`;
    const all: Parsed[] = [];
    let after = "";
    let pages = 0;
    for (; ; pages += 1) {
      const { items, read, next } = await readList(operation, path + after, client);
      expect(read).toBeLessThanOrEqual(most);
      all.push(...items);
      if (next === undefined) break;
      after = `&after=${next}`;
    }
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    return { all, pages };
  }

  const addEntries = (rows: number, changes: Record<string, string>) =>
    copyRow(world.id, "audit_log", undefined, newIdsOf(rows), changes);

  it("with several filters of the audit log finds every entry, and ends a page early", async () => {
    const target = `'${newId(systemClock)}'`;
    const fits = { target_id: target, action: "'stack.deleted'" };
    const times = (at: string) => ({ created_at: at });
    const first = await addEntries(1, { ...fits, ...times("10") });
    await addEntries(2 * SEARCHED, { ...fits, action: "'api_key.renamed'", ...times("20") });
    const second = await addEntries(1, { ...fits, ...times("30") });
    const operation = operationNamed("listAuditLog");
    for (const order of ["%2Bcreated_at", "-created_at"]) {
      const query = `&sort_by=${order}&target=${target.slice(1, -1)}&action=stack.deleted`;
      const { all, pages } = await readAll(operation, query, MOST_SEARCHED);
      expect(all.map(({ id }) => id).toSorted()).toEqual([...first, ...second].toSorted());
      expect(pages).toBe(2);
    }
    const path = `${pathWith(operation, ids)}/export?target=${target.slice(1, -1)}&action=stack.deleted`;
    const { text } = await (await newKey(world)).client.get(path);
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual([...first, ...second, undefined]);
    expect(lines.at(-1)).toMatchObject({ end: true, has_more: false });
  });

  it.each([
    ["listAuditLog", "audit_log", "target_name"],
    ["listChangelog", "changelog_entries", "record_name"],
  ])("by names (%s) finds every entry, and ends a page early", async (id, table, nameFilter) => {
    const { membershipId } = await join(world);
    const name = `Rare ${id}`;
    await env.DB.prepare(
      `update accounts set display_name = ?2
        where id = (select account_id from memberships where id = ?1)`,
    )
      .bind(membershipId, name)
      .run();
    const add = (rows: number, at: number, changes: Record<string, string> = {}) =>
      copyRow(world.id, table, undefined, newIdsOf(rows), {
        ...{ project_id: `'${ids["project_id"]}'`, created_at: String(at) },
        ...changes,
      });
    const rare = { membership_id: `'${membershipId}'`, [nameFilter]: `'${name}'` };
    const first = await add(1, 40, rare);
    await add(2 * SEARCHED, 50);
    const second = await add(2, 60, rare);
    const expected = [...first, ...second].toSorted();
    const operation = operationNamed(id);
    for (const filter of ["actor_name", nameFilter]) {
      const query = `&${filter}=${encodeURIComponent(name)}`;
      for (const order of ["%2Bcreated_at", "-created_at"]) {
        // The actor has a membership and an account.
        const most = MOST_SEARCHED + OF_ACTOR * SEARCHED;
        const { all, pages } = await readAll(operation, `&sort_by=${order}${query}`, most);
        expect(all.map((each) => each["id"]).toSorted()).toEqual(expected);
        expect(all.map(({ actor }) => actor.name)).toEqual([name, name, name]);
        expect(pages).toBeGreaterThan(1);
      }
      const other = `&${filter}=${encodeURIComponent(name.toLowerCase())}`;
      expect((await readAll(operation, other, Number.POSITIVE_INFINITY)).all).toEqual([]);
    }
  });

  it.each([
    ["listAuditLog", "audit_log", "target"],
    ["listChangelog", "changelog_entries", "record"],
  ])(
    "of a log (%s) whose entries name everything reads at most three rows for each",
    async (id, table, target) => {
      const { membershipId } = await join(world);
      const { results } = await env.DB.prepare("select id from attempts where deployment_id = ?")
        .bind(ids["deployment_id"] ?? null)
        .all<{ id: string }>();
      const about = { ...ids, attempt_id: results[0]?.id };
      const isAudit = table === "audit_log";
      const types = ["variable", "deployment", ...(isAudit ? ["attempt"] : [])] as const;
      for (const [at, type] of types.entries()) {
        await copyRow(world.id, table, undefined, newIdsOf(LIMIT), {
          project_id: `'${ids["project_id"]}'`,
          created_at: `${4_000_000_000_000 - at * 10_000} - item.key * 10`,
          membership_id: `'${membershipId}'`,
          [isAudit ? "credential_id" : "key_id"]: `'${ids["key_id"]}'`,
          [`${target}_type`]: `'${type}'`,
          [`${target}_id`]: `'${about[`${type}_id` as keyof typeof about]}'`,
          ...(isAudit
            ? { actor_type: "'api_key'", changes: "null" }
            : { before: "null", after: "null" }),
        });
      }
      const operation = operationNamed(id);
      const path = `${pathWith(operation, ids)}?limit=${LIMIT}`;
      let query = "";
      for (const type of types) {
        const { items, sent, read, next } = await readList(operation, `${path}${query}`);
        expect(items.map(({ targets }) => targets[0].type)).toEqual(items.map(() => type));
        for (const { actor, source, targets } of items) {
          expect([actor.name, source.name]).toEqual([expect.any(String), expect.any(String)]);
          expect(targets.length).toBeGreaterThan(1);
        }
        expect(read).toBeLessThanOrEqual(MOST * sent + ONCE);
        query = `&after=${next}`;
      }
    },
  );

  it("with a key of one environment finds its events among those of others, and ends a page early", async () => {
    const changes = { project_id: `'${ids["project_id"]}'`, type: "'deployments.failed'" };
    const inEnvironment = (id: string | undefined) => ({ ...changes, environment_id: `'${id}'` });
    const addEvents = (rows: number, environmentId: string | undefined, at: string) =>
      copyRow(world.id, "events", undefined, newIdsOf(rows), {
        ...inEnvironment(environmentId),
        created_at: at,
      });
    const first = await addEvents(1, ids["environment_id"], "10");
    await addEvents(2 * SEARCHED, newId(systemClock), "20");
    const second = await addEvents(1, ids["environment_id"], "30");
    const bounded = await newKey(world, { environmentIds: [String(ids["environment_id"])] });
    // All filters at once: a statement has at most 100 parameters.
    const query = "&from=1970-01-01T00:00:00.010Z&to=1970-01-01T00:00:01Z";
    const operation = operationNamed("listEvents");
    const { all, pages } = await readAll(operation, query, MOST_SEARCHED, bounded.client);
    expect(all.map(({ id }) => id)).toEqual([...second, ...first]);
    expect(pages).toBe(2);
  });

  it("among the deployments of a deleted environment finds all others, and ends a page early", async () => {
    const project = `/v1/projects/${ids["project_id"]}/environments`;
    const { body: environment } = await world.client.post(project, { name: "deleted" });
    await copyRow(world.id, "deployments", ids["deployment_id"], newIdsOf(10 * SEARCHED), {
      environment_id: `'${environment.id}'`,
      status: "'failed'",
      announced: "'failed'",
      number: "item.key + 1",
      created_at: "(select min(created_at) + 1 from deployments)",
    });
    const { membershipId, client } = await join(world);
    const members = `/v1/projects/${ids["project_id"]}/members`;
    await world.client.post(members, { member_ids: [membershipId] });
    const operation = operationNamed("listDeployments");
    const admin = (await newKey(world)).client;
    const idsFor = async (caller: Client, most: number, query = "") => {
      const { all, pages } = await readAll(operation, query, most, caller);
      return { found: all.map(({ id }) => id), pages };
    };
    const { results } = await env.DB.prepare(
      `select id from deployments where organization_id = ? and environment_id <> ?
       order by created_at desc, id desc`,
    )
      .bind(world.id, environment.id)
      .all<{ id: string }>();
    const others = results.map(({ id }) => id);
    const deleted = await world.client.delete(`/v1/environments/${environment.id}`);
    expect(deleted.status).toBe(204);
    const ofAdmin = await idsFor(admin, 9 * SEARCHED);
    expect(ofAdmin.found).toEqual(others);
    expect(ofAdmin.pages).toBeLessThan(others.length / 10);
    const failed = await idsFor(admin, 9 * SEARCHED, "&status=failed,queued");
    expect(failed.found.length).toBeGreaterThan(LIMIT);
    const ofMember = await idsFor(client, 13 * SEARCHED);
    expect(ofMember.found).toEqual(others);
  });

  it("among the resources of a deleted stack finds all others, and ends a page early", async () => {
    const path = `/v1/environments/${ids["environment_id"]}/stacks`;
    const { body: stack } = await world.client.post(path, { name: "deleted" });
    await copyRow(world.id, "resources", ids["resource_id"], newIdsOf(4 * SEARCHED), {
      stack_id: `'${stack.id}'`,
      template_id: "item.value",
      created_at: "(select min(created_at) from resources) + item.key % 2",
    });
    expect((await world.client.delete(`/v1/stacks/${stack.id}`)).status).toBe(204);
    const operation = operationNamed("listEnvironmentResources");
    for (const order of ["%2Bcreated_at", "-created_at"]) {
      const { all } = await readAll(operation, `&sort_by=${order}`, MOST_SEARCHED);
      expect(all.length).toBeGreaterThan(ROWS);
      expect(all.map(({ stack_id }) => stack_id)).not.toContain(stack.id);
    }
  });
});

import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import documentation from "../../docs/audit-log.md?raw";
import { ACTOR_TYPES, OUTCOMES } from "../../src/features/housekeeping/audit/model.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { AUDITED_ACTIONS, TARGET_TYPES } from "../../src/lib/resource-types.ts";
import { listAuditLog } from "../support/audit.ts";
import {
  ACTIONS,
  at,
  idsOf,
  insert,
  MINUTE,
  pathOf,
  type Row,
  rowsOf,
  START,
} from "./../support/audit-rows.ts";
import type { Client, Parsed } from "../support/client.ts";
import { operations } from "../support/contract.ts";
import { Instrumented } from "../support/instruments.ts";
import { expectIndexed, expectIndexedPages } from "../support/lists.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let client: Client;
let rows: Row[];

beforeAll(async () => {
  world = await newWorld();
  rows = rowsOf(900);
  await insert(world.id, rows);
});

beforeEach(async () => {
  ({ client } = await newKey(world));
});

type Filter = [query: (row: Row) => string, matches: (each: Row, row: Row) => boolean];

const SINGLE_FILTERS: Record<string, Filter> = {
  "a membership": [
    (row) => `actor=${row.membershipId}`,
    (each, row) => each.membershipId === row.membershipId,
  ],
  "an action": [(row) => `action=${row.action}`, (each, row) => each.action === row.action],
  "a target": [(row) => `target=${row.targetId}`, (each, row) => each.targetId === row.targetId],
  "a project": [
    (row) => `project_id=${row.projectId}`,
    (each, row) => each.projectId === row.projectId,
  ],
  "the first time, inclusive": [
    (row) => `from=${at(row.createdAt)}`,
    (each, row) => each.createdAt >= row.createdAt,
  ],
};

/** Each two of them. */
function pairsOf(filters: Record<string, Filter>): Record<string, Filter> {
  const all = Object.entries(filters);
  const pairs = all.flatMap(([one, [query, matches]], index) =>
    all
      .slice(index + 1)
      .map(([other, [otherQuery, otherMatches]]): [string, Filter] => [
        `${one} and ${other}`,
        [
          (row) => `${query(row)}&${otherQuery(row)}`,
          (each, row) => matches(each, row) && otherMatches(each, row),
        ],
      ]),
  );
  return Object.fromEntries(pairs);
}

describe("the list of the audit log", () => {
  const [first] = ACTIONS;
  const filters: Record<string, Filter> = {
    nothing: [() => "", () => true],
    "a credential": [
      (row) => `actor=${row.credentialId}`,
      (each, row) => each.credentialId === row.credentialId,
    ],
    ...SINGLE_FILTERS,
    "two actions": [
      () => `action=${ACTIONS[0]},${ACTIONS[2]}`,
      ({ action }) => action !== ACTIONS[1],
    ],
    "two actions, repeated": [
      () => `action=${ACTIONS[0]}&action=${ACTIONS[2]}`,
      ({ action }) => action !== ACTIONS[1],
    ],
    "the last time, exclusive": [
      (row) => `to=${at(row.createdAt)}`,
      (each, row) => each.createdAt < row.createdAt,
    ],
    "a range in another time zone": [
      () => "from=2026-03-01T02:00:00%2B01:00&to=2026-03-01T03:00:00%2B01:00",
      ({ createdAt }) => createdAt >= START + 60 * MINUTE && createdAt < START + 120 * MINUTE,
    ],
    ...pairsOf(SINGLE_FILTERS),
    everything: [
      (row) =>
        `actor=${row.membershipId}&action=${row.action}&target=${row.targetId}` +
        `&project_id=${row.projectId}&from=${at(START)}&to=${at(row.createdAt + 1)}`,
      (each, row) =>
        each.membershipId === row.membershipId &&
        each.action === row.action &&
        each.targetId === row.targetId &&
        each.projectId === row.projectId &&
        each.createdAt <= row.createdAt,
    ],
  };

  it.each(Object.entries(filters))("filters by %s, in pages", async (_, [query, matches]) => {
    const row = rows[601];
    if (!row) throw new Error("There are too few rows");
    const expected = rows.filter((each) => matches(each, row)).map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(0);
    for (const order of ["created_at", "-created_at"]) {
      const listed: string[] = [];
      for (let after = ""; ; ) {
        const path = `${pathOf(world)}?${query(row)}&sort_by=${order}&limit=101${after}`;
        const { body } = await client.get(path);
        listed.push(...idsOf(body.data));
        if (!body.has_more) break;
        after = `&after=${body.next_page}`;
      }
      expect(listed).toEqual(order === "created_at" ? expected : expected.toReversed());
    }
  });

  const indexed = ["nothing", "a credential", "a membership", "an action", "a target", "a project"];
  it.each(
    indexed.flatMap((name) => ["created_at", "-created_at"].map((order) => [name, order] as const)),
  )("by %s (%s) uses an index, and reads few more rows than it returns", async (name, order) => {
    const [row] = rows.slice(601);
    const query = row && filters[name]?.[0](row);
    const path = `${pathOf(world)}?${query}`.replace(/\?$/, "");
    await expectIndexedPages(client, path, { sort_by: order, limit: 20 });
  });

  it.each(["from", "to"])("with %s, a later page reads only its own rows", async (name) => {
    const order = name === "from" ? "created_at" : "-created_at";
    const bound = name === "from" ? START : START + 300 * MINUTE;
    const path = `${pathOf(world)}?${name}=${at(bound)}&sort_by=${order}`;
    let after = "";
    for (let page = 0; page < 3; page += 1) {
      const { body } = await client.get(`${path}&limit=240${after}`);
      after = `&after=${body.next_page}`;
    }
    const isolate = new Instrumented();
    const caller = client.via(isolate.fetch);
    await caller.get("/v1/orgs");
    isolate.forget();
    expect((await caller.get(`${path}&limit=20${after}`)).body.data).toHaveLength(20);
    await expectIndexed(isolate.database, 20);
  });

  it("is of one organization: another is not found, and its IDs match nothing", async () => {
    const other = await newWorld();
    const reply = await other.client.get(pathOf(world));
    expect([reply.status, reply.body.code]).toEqual([404, "not_found"]);
    const own = await other.client.get(`${pathOf(other)}?target=${rows[0]?.targetId}`);
    expect(own.body.data).toEqual([]);
    const [credential, project] = [rows[1]?.credentialId, rows[1]?.projectId];
    for (const query of [`actor=${credential}`, `project_id=${project}`, `action=${first}`]) {
      expect((await other.client.get(`${pathOf(other)}?${query}`)).body.data).toEqual([]);
      expect((await client.get(`${pathOf(world)}?${query}`)).body.data).not.toEqual([]);
    }
  });

  it("is for admins only, and so is its export", async () => {
    const owner = await newWorld();
    const [member, admin] = [await join(owner), await join(owner, "admin")];
    for (const path of [pathOf(owner), `${pathOf(owner)}/export`]) {
      const refused = await member.client.get(path);
      expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
      expect((await admin.client.get(path)).status).toBe(200);
    }
  });

  it.each([
    ["action=project.renamed", "action"],
    [`action=${first},nothing`, "action"],
    ["actor=!", "actor"],
    ["target=me", "target"],
    ["project_id=%20", "project_id"],
    ["from=yesterday", "from"],
    ["to=2026-03-01", "to"],
    ["from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z", "to"],
    ["after=abcd", "after"],
  ])("refuses ?%s and names the parameter, and so does the export", async (query, parameter) => {
    for (const path of [pathOf(world), `${pathOf(world)}/export`]) {
      const { status, body } = await client.get(`${path}?${query}`);
      expect([status, body.code]).toEqual([400, "bad_input"]);
      expect(body.cause.issues[0].path).toMatch(new RegExp(`^${parameter}`));
    }
  });

  it("has pages of at most 1 MiB, and an export has every record of them", async () => {
    const owner = await newWorld();
    const large = rowsOf(240);
    await insert(owner.id, large);
    const wide = '"\\ü界\u0001'.repeat(1_500);
    await env.DB.prepare(
      "update audit_log set changes = ?, target_name = ? where organization_id = ?",
    )
      .bind(JSON.stringify({ after: { name: wide } }), wide.slice(0, 200), owner.id)
      .run();
    const path = `${pathOf(owner)}?sort_by=created_at&limit=240`;
    const { text, body } = await owner.client.get(path);
    const bytes = new TextEncoder().encode(text).length;
    expect(bytes).toBeLessThanOrEqual(LIMITS.pageBytes.value + 1_000);
    expect(bytes).toBeGreaterThan(LIMITS.pageBytes.value / 2);
    expect(body.has_more).toBe(true);
    const exported = await owner.client.get(`${pathOf(owner)}/export`);
    const lines = exported.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(idsOf(lines.slice(0, -1))).toEqual(idsOf(large));
  });

  it("has no record of an empty range", async () => {
    const time = at(START);
    const { status, body } = await client.get(`${pathOf(world)}?from=${time}&to=${time}`);
    expect([status, body.data]).toEqual([200, []]);
  });

  it("keeps the records of a deleted project, and their names", async () => {
    const owner = await newWorld();
    const project = await newProject(owner.client, { name: "short-lived" });
    const variables = `/v1/environments/${project.default_environment_id}/variables`;
    await owner.client.post(variables, { name: "A", storage_method: "string", value: "a" });
    const before = await listAuditLog(owner);
    expect((await owner.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    const after = await listAuditLog(owner, `&project_id=${project.id}`);
    const recorded = ({ targets, ...record }: Parsed) => ({ ...record, target: targets[0] });
    expect(after.slice(0, -1).map(recorded)).toEqual(before.map(recorded));
    expect(after.map(({ targets }) => targets.length)).toEqual([1, 1, 1]);
    expect(after.map(({ action, target }) => [action, target.name])).toEqual([
      ["project.created", "short-lived"],
      ["variable.created", "A"],
      ["project.deleted", "short-lived"],
    ]);
  });

  it("cannot be changed: its paths have no other method, and no statement updates or deletes it", () => {
    const methods = operations.filter(({ path }) => path.includes("/audit-log"));
    expect(methods.map(({ method }) => method)).toEqual(["GET", "GET"]);
    const sources: Record<string, string> = import.meta.glob("../../src/**/*.ts", {
      query: "?raw",
      import: "default",
      eager: true,
    });
    // The erasure of an account removes the person's name, and the purge the oldest entries.
    const isErasure = (path: string) => /\/(audit\/erasure|purge\/history-store)\.ts$/.test(path);
    const changing =
      /(update|delete)\(\s*(auditLog|table\.auditLog)\b|(update|delete from) audit_log/i;
    const found = Object.entries(sources).filter(([, text]) => changing.test(text));
    expect(Object.keys(sources).length).toBeGreaterThan(100);
    expect(found.map(([path]) => path).filter((path) => !isErasure(path))).toEqual([]);
  });
});

it("the documentation has every action, actor, target and outcome, and no other action", () => {
  const named = new Set(documentation.match(/(?<=`)\w+(\.\w+)?(?=`)/g));
  for (const name of [...AUDITED_ACTIONS, ...ACTOR_TYPES, ...TARGET_TYPES, ...OUTCOMES]) {
    expect(named).toContain(name);
  }
  const actions = [...named].filter((name) => /^\w+\.(?!ndjson)\w+$/.test(name));
  expect(actions.toSorted()).toEqual(AUDITED_ACTIONS.toSorted());
});

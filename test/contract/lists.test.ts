import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { expectIndexedPages, insertProjects } from "../support/lists.ts";
import { join, newKey, newWorld, type World } from "../support/world.ts";

const ROWS = 1_000;
const LIMIT = 20;
/** Rows with the same creation time, so that pages end between them. */
const TIES = 70;

async function deleteProject(id: string): Promise<void> {
  await env.DB.batch([
    env.DB.prepare("delete from project_members where project_id = ?").bind(id),
    env.DB.prepare("delete from projects where id = ?").bind(id),
  ]);
}

describe("paging", () => {
  it("returns every row exactly once while other rows are added and deleted between pages", async () => {
    const actions = fc.array(
      fc.record({
        inserts: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }),
        deletes: fc.array(fc.nat(), { maxLength: 2 }),
      }),
      { maxLength: 12 },
    );
    const initial = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 25 });
    const order = fc.constantFrom("created_at", "+created_at", "-created_at");
    await fc.assert(
      fc.asyncProperty(initial, actions, order, fc.integer({ min: 1, max: 7 }), walkAndCheck),
      { numRuns: 25 },
    );
  });

  async function walkAndCheck(
    initial: readonly number[],
    actions: readonly { inserts: readonly number[]; deletes: readonly number[] }[],
    order: string,
    limit: number,
  ) {
    const world = await newWorld();
    const stayed = new Map<string, number>();
    const insert = async (times: readonly number[]) => {
      const rows = times.map((createdAt) => ({ id: newId(systemClock), createdAt }));
      await insertProjects(world, rows);
      return rows;
    };
    for (const { id, createdAt } of await insert(initial)) stayed.set(id, createdAt);
    const admin = world.client;
    const member = (await newKey(world, { role: "member" })).client;
    for (const client of [admin, member]) {
      let after = "";
      const pending = [...actions];
      const seen: string[] = [];
      for (;;) {
        const { body } = await client.get(`/v1/projects?sort_by=${order}&limit=${limit}${after}`);
        seen.push(...body.data.map((each: Parsed) => each.id));
        expect(body.has_more).toBe("next_page" in body);
        if (!body.has_more) break;
        expect(body.data).toHaveLength(limit);
        after = `&after=${body.next_page}`;
        const action = pending.shift();
        await insert(action?.inserts ?? []);
        for (const pick of action?.deletes ?? []) {
          const id = [...stayed.keys()][pick % Math.max(1, stayed.size)];
          if (id) {
            await deleteProject(id);
            stayed.delete(id);
          }
        }
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining([...stayed.keys()]));
    }
  }

  it.each([
    ["limit=0", "limit"],
    ["limit=241", "limit"],
    ["limit=1.5", "limit"],
    ["limit=1&limit=2", "limit"],
    ["sort_by=name", "sort_by"],
    ["after=!", "after"],
    ["after=abcd", "after"],
  ])("refuses ?%s and names the parameter", async (query, path) => {
    const { client } = await newWorld();
    const reply = await client.get(`/v1/projects?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe(path);
  });

  it("refuses a cursor of the other sort order, and accepts one in base64url", async () => {
    const world = await newWorld();
    await insertProjects(world, [
      { id: newId(systemClock), createdAt: 1 },
      { id: newId(systemClock), createdAt: 2 },
    ]);
    const { body } = await world.client.get("/v1/projects?limit=1");
    const url = encodeURIComponent(body.next_page.replaceAll("+", "-").replaceAll("/", "_"));
    expect((await world.client.get(`/v1/projects?after=${url}`)).body.data).toHaveLength(1);
    const other = await world.client.get(`/v1/projects?sort_by=created_at&after=${url}`);
    expect(other.status).toBe(400);
    expect(other.body.cause.issues[0].path).toBe("after");
  });
});

describe("every list", () => {
  let world: World;
  let admin: Client;
  let member: Client;
  let projectId: string;
  let environmentId: string;
  let componentId: string;

  beforeAll(async () => {
    world = await newWorld();
    const person = await join(world);
    member = person.client;
    projectId = newId(systemClock);
    const ids = Array.from({ length: ROWS }, () => newId(systemClock));
    // In another order than the memberships, so that one cannot replace the other in a cursor.
    const accountIds = ids.map(() => newId(systemClock)).toReversed();
    const keyIds = ids.map(() => newId(systemClock)).toReversed();
    const timeOf = (at: number) => Math.floor(at / TIES);
    await insertProjects(world, [{ id: projectId, createdAt: 0 }]);
    await insertProjects(
      world,
      ids.map((id, at) => ({ id, createdAt: timeOf(at) })),
    );
    const insert = (sql: string) => env.DB.prepare(sql);
    const roles = ["viewer", "contributor", "viewer"];
    const statements = ids.flatMap((id, at) => [
      insert("insert into accounts values (?1, ?1, 'x', 'x', null, '{}', 0, 0, 1)").bind(
        accountIds[at],
      ),
      insert(`insert into memberships
          (id, organization_id, account_id, role, created_at, updated_at)
          values (?1, ?2, ?3, 'member', ?4, 0)`).bind(id, world.id, accountIds[at], timeOf(at)),
      insert(
        `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash,
          last_four, version, expires_at, last_used_at, created_at)
          values (?1, ?2, ?3, 'x', 'member', ?1, 'abcd', 1, null, null, ?4)`,
      ).bind(keyIds[at], world.id, id, timeOf(at)),
      insert("insert into project_members values (?1, ?2, ?3, ?4, ?5, 0, 1)").bind(
        projectId,
        id,
        world.id,
        roles[at % 3],
        timeOf(at),
      ),
      // The member has a role in every 100th project.
      ...(at % 10 === 0
        ? [
            insert("insert into project_members values (?1, ?2, ?3, 'viewer', ?4, ?4, 1)").bind(
              id,
              person.membershipId,
              world.id,
              timeOf(at),
            ),
          ]
        : []),
    ]);
    for (let at = 0; at < statements.length; at += 500) {
      await env.DB.batch(statements.slice(at, at + 500));
    }
    [environmentId = "", componentId = ""] = ids;
    const others = JSON.stringify(ids.map(() => newId(systemClock)));
    const rows = (sql: string, json = JSON.stringify(ids)) =>
      insert(`${sql} from json_each(?1)`).bind(
        ...[json, world.id, projectId, environmentId, componentId].slice(0, placesIn(sql)),
      );
    await env.DB.batch([
      rows(
        `insert into environments
          (id, organization_id, project_id, name, configuration, created_at, updated_at)
          select value, ?2, ?3, 'n' || key, '{}', key / ${TIES}, 0`,
      ),
      rows(
        `insert into components select value, ?2, ?3, ?4, 'n' || key, 'service', key / ${TIES}, 0, 1`,
      ),
      rows(`insert into stacks (id, organization_id, project_id, environment_id, component_id,
        name, created_at, updated_at, record_version) select value, ?2, ?3, ?4, ?5, 'n' || key, key / ${TIES}, 0, 1`),
      rows(`insert into variables
        select value, ?2, ?3, ?4, null, ?4, 'V' || key, 'string', value, '', 1, key / ${TIES}, 0`),
      rows(
        `insert into variables
          select value, ?2, ?3, ?4, ?5, ?5, 'V' || key, 'string', value, '', 1, key / ${TIES}, 0`,
        others,
      ),
    ]);
  });

  /** A new key for each test, because each key has its own rate limit. */
  beforeEach(async () => {
    admin = (await newKey(world)).client;
  });

  const lists = {
    "projects, for an admin": () => ["/v1/projects", admin],
    "projects, for a member": () => ["/v1/projects", member],
    "projects of an organization": () => [`/v1/orgs/${world.id}/projects`, admin],
    "members of an organization": () => [`/v1/orgs/${world.id}/members`, admin],
    "API keys": () => [`/v1/orgs/${world.id}/api-keys`, admin],
    "members of a project": () => [`/v1/projects/${projectId}/members`, admin],
    "members of a project with one role": () => [
      `/v1/projects/${projectId}/members?role=contributor`,
      admin,
    ],
    "members of a project with two roles": () => [
      `/v1/projects/${projectId}/members?role=contributor,owner`,
      admin,
    ],
    environments: () => [`/v1/projects/${projectId}/environments`, admin],
    components: () => [`/v1/environments/${environmentId}/components`, admin],
    stacks: () => [`/v1/environments/${environmentId}/stacks`, admin],
    "variables of an environment": () => [`/v1/environments/${environmentId}/variables`, admin],
    "variables of a component": () => [`/v1/components/${componentId}/variables`, admin],
  } satisfies Record<string, () => [string, Client]>;

  const cases = Object.entries(lists).flatMap(([name, list]) =>
    ["+created_at", "-created_at"].map((order) => [name, order, list] as const),
  );

  it.each(cases)(
    "(%s, %s) uses an index, and reads few more rows than it returns",
    async (_, order, list) => {
      const [path, client] = list();
      await expectIndexedPages(client, path, { sort_by: order, limit: LIMIT });
    },
  );

  it("of members may be long: the check for a remaining owner uses an index", async () => {
    for (const attempt of [
      (client: Client, path: string) => client.put(path, { role: "member" }),
      (client: Client, path: string) => client.delete(path),
    ]) {
      const { membershipId } = await join(world, "owner");
      const worker = new Instrumented();
      const { client } = await newKey(world);
      const path = `/v1/orgs/${world.id}/members/${membershipId}`;
      expect((await attempt(client.via(worker.fetch), path)).status).toBeLessThan(300);
      const read = worker.database.map(({ rowsRead = 0 }) => rowsRead);
      expect(Math.max(...read)).toBeGreaterThan(0);
      expect(Math.max(...read)).toBeLessThan(ROWS / 10);
    }
  });
});

/** The highest number of a placeholder in the statement. */
const placesIn = (sql: string) =>
  Math.max(...[...sql.matchAll(/\?(\d)/g)].map(([, at]) => Number(at)));

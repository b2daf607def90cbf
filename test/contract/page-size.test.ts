import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newInside, newKey, newProject, newWorld, type World } from "../support/world.ts";

const LARGE = "x".repeat(250_000);
/** Characters that JSON escapes, and characters of one to three bytes in UTF-8. */
const WIDE = '"\\ü界'.repeat(250);

let world: World;
let project: Parsed;
let environmentId: string;
let stackId: string;

beforeAll(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  environmentId = project.default_environment_id;
  stackId = String((await newInside(world.client, environmentId))["stack_id"]);
});

const ids = (count: number) => Array.from({ length: count }, () => newId(systemClock));
const insert = (sql: string, count: number, ...values: unknown[]) =>
  env.DB.prepare(`insert into ${sql} from json_each(?1)`)
    .bind(JSON.stringify(ids(count)), ...values)
    .run();

/** Lists whose records can be large, with rows for more than one page. */
const lists: Record<string, { count: number; path: () => string; fill: () => Promise<unknown> }> = {
  environments: {
    count: 12,
    path: () => `/v1/projects/${project.id}/environments`,
    fill: () =>
      insert(
        `environments (id, organization_id, project_id, name, configuration, created_at, updated_at)
         select value, ?2, ?3, 'e-' || key, ?4, key / 3, 0`,
        12,
        world.id,
        project.id,
        JSON.stringify({ large: LARGE }),
      ),
  },
  deployments: {
    count: 9,
    path: () => `/v1/environments/${environmentId}/deployments`,
    fill: () =>
      insert(
        `deployments (id, organization_id, project_id, environment_id, number, status, announced,
           queue, patch, configuration, source, created_at, updated_at)
         select value, ?2, ?3, ?4, key + 1, iif(key % 2, 'failed', 'succeeded'),
           iif(key % 2, 'failed', 'succeeded'), 'fifo', ?5, '{}', ?6, key / 2, 0`,
        9,
        world.id,
        project.id,
        environmentId,
        JSON.stringify([{ op: "add", path: "/a", value: LARGE }]),
        JSON.stringify({
          registry: {
            image: "shop:1",
            command: Array.from({ length: 60 }, () => "x".repeat(4_000)),
          },
        }),
      ),
  },
  "deployments with two statuses": {
    count: 9,
    path: () => `/v1/deployments?status=failed,succeeded`,
    fill: async () => undefined,
  },
  changelog: {
    count: 100,
    path: () => `/v1/projects/${project.id}/changelog`,
    fill: () =>
      insert(
        `changelog_entries select value, ?2, ?3, null, null, null, 'updated', 'project', ?3, ?4, ?5,
           ?5, key / 5`,
        100,
        world.id,
        project.id,
        WIDE.slice(0, 100),
        JSON.stringify({ configuration: { wide: WIDE.repeat(10) } }),
      ),
  },
  projects: {
    count: 240,
    path: () => "/v1/projects",
    fill: () =>
      insert(
        `projects (id, organization_id, name, description, icon, default_environment_id,
           connection_status, created_at, updated_at)
         select value, ?2, 'p', ?3, 'icon:' || ?3, value, 'disconnected', key / 7, 0`,
        240,
        world.id,
        WIDE,
      ),
  },
  resources: {
    count: 240,
    path: () => `/v1/stacks/${stackId}/resources`,
    fill: () =>
      insert(
        `resources select value, ?2, ?3, ?4, ?5, value, ?6, 'AWS::S3::Bucket', 'CREATE_FAILED', ?6, 0,
           key / 7, 0`,
        240,
        world.id,
        project.id,
        environmentId,
        stackId,
        WIDE,
      ),
  },
  "members of an organization": {
    count: 240,
    path: () => `/v1/orgs/${world.id}/members`,
    fill: async () => {
      await insert(
        `accounts select value, value || '@example.com', ?2, ?2, ?2,
           json_object('bio', ?2, 'website', ?2), 0, 0, 1`,
        240,
        WIDE,
      );
      await env.DB.prepare(
        `insert into memberships (id, organization_id, account_id, role, created_at, updated_at)
         select id, ?1, id, 'member', rowid / 7, 0 from accounts
         where name = ?2`,
      )
        .bind(world.id, WIDE)
        .run();
    },
  },
  "members of a project": {
    count: 240,
    path: () => `/v1/projects/${project.id}/members?role=viewer,contributor`,
    fill: () =>
      env.DB.prepare(
        `insert into project_members select ?1, id, ?2, iif(rowid % 3, 'viewer', 'contributor'),
           created_at, 0, 1 from memberships where organization_id = ?2 and role = 'member'`,
      )
        .bind(project.id, world.id)
        .run(),
  },
};

describe.each(Object.entries(lists))("a list of %s", (_, { count, path, fill }) => {
  beforeAll(fill);

  it.each(["created_at", "-created_at"])(
    "(%s) has pages of at most 1 MiB, with all records once, in order",
    async (order) => {
      const { client } = await newKey(world);
      const seen: Parsed[] = [];
      const pages: { bytes: number; records: number }[] = [];
      for (let after = ""; ; ) {
        const separator = path().includes("?") ? "&" : "?";
        const url = `${path()}${separator}limit=240&sort_by=${order}${after}`;
        const { body, text } = await client.get(url);
        pages.push({ bytes: new TextEncoder().encode(text).length, records: body.data.length });
        seen.push(...body.data);
        expect(body.has_more).toBe(body.next_page !== undefined);
        if (!body.has_more) break;
        after = `&after=${body.next_page}`;
      }
      expect(pages.length).toBeGreaterThan(1);
      for (const { bytes, records } of pages) {
        expect(records).toBeGreaterThan(0);
        if (records > 1) expect(bytes).toBeLessThanOrEqual(LIMITS.pageBytes.value + 1_000);
      }
      // Pages are nearly full.
      for (const { bytes } of pages.slice(0, -1)) {
        expect(bytes).toBeGreaterThan(LIMITS.pageBytes.value / 2);
      }
      const idsOf = seen.map((each) => each.id ?? each.membership_id ?? each.name);
      expect(new Set(idsOf).size).toBe(idsOf.length);
      expect(idsOf.length).toBeGreaterThanOrEqual(count);
      const times = seen.map((each) => each.created_at);
      const sorted = times.toSorted();
      expect(times).toEqual(order === "created_at" ? sorted : sorted.toReversed());
    },
  );
});

describe("a page", () => {
  it("contains a record that is larger than a page, and continues with the next", async () => {
    const other = await newProject(world.client);
    await insert(
      `deployments (id, organization_id, project_id, environment_id, number, status, announced,
         queue, patch, configuration, created_at, updated_at)
       select value, ?2, ?3, ?4, key + 1, 'failed', 'failed', 'fifo', ?5, '{}', 0, 0`,
      3,
      world.id,
      other.id,
      other.default_environment_id,
      JSON.stringify([{ op: "add", path: "/a", value: "x".repeat(1_500_000) }]),
    );
    const path = `/v1/environments/${other.default_environment_id}/deployments`;
    const seen = new Set<string>();
    for (let after = ""; ; ) {
      const { body } = await world.client.get(`${path}?limit=2${after}`);
      expect(body.data).toHaveLength(1);
      seen.add(body.data[0].id);
      if (!body.has_more) break;
      after = `&after=${body.next_page}`;
    }
    expect(seen.size).toBe(3);
  });

  it("reads only the records that it returns", async () => {
    const worker = new Instrumented();
    const { client } = await newKey(world);
    const { body } = await client
      .via(worker.fetch)
      .get(`/v1/projects/${project.id}/environments?limit=240`);
    const [list] = worker.database
      .flatMap(({ statements }) => statements)
      .filter(({ sql }) => sql.includes("page.found"));
    if (!list) throw new Error("The list was to be read");
    const { results } = await env.DB.prepare(list.sql)
      .bind(...list.params)
      .all();
    expect(results).toHaveLength(body.data.length);
  });
});

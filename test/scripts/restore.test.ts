import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { linesOf, type RowLine, withTrailer } from "../../packages/server/src/backup/file.ts";
import { BACKUP_TABLES } from "../../packages/server/src/backup/tables.ts";
import {
  backUp,
  collect,
  countOf,
  deleteAllRows,
  expectExactUsage,
  expectNoOrphans,
  iterate,
  restoreLines,
  rowsIn,
} from "../support/backups.ts";
import { FullOrganization } from "../support/full-organization.ts";
import { Instrumented } from "../support/instruments.ts";
import { newProject, newWorld, type World } from "../support/world.ts";
import { permissive } from "../walk/fixture.ts";

beforeAll(async () => {
  await applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS);
});

beforeEach(async () => {
  await deleteAllRows(env.RESTORED);
});

const KNOWN_ACCOUNT = "1knownAccount111111111";

/** The target knows the same person by another ID. */
async function addKnownAccount({ accountId }: World): Promise<void> {
  const select = env.DB.prepare("select email from accounts where id = ?");
  const email = await select.bind(accountId).first("email");
  const insert = "insert into accounts values (?, ?, 'Known', 'Known', null, '{}', 1, 1, 1)";
  await env.RESTORED.prepare(insert).bind(KNOWN_ACCOUNT, email).run();
}

/** The target, whose connection is lost after so many batches. */
function failingAfter(count: number): D1Database {
  let batches = 0;
  return new Proxy(env.RESTORED, {
    get: (database, name) => {
      if (name !== "batch") return Reflect.get(database, name).bind(database);
      return (statements: D1PreparedStatement[]) => {
        batches += 1;
        if (batches > count) throw new Error("The connection was lost");
        return database.batch(statements);
      };
    },
  });
}

describe("a restore", () => {
  it("refuses a file that is truncated, changed, or not a backup, and inserts nothing", async () => {
    await newWorld();
    const lines = await backUp();
    const changed = lines.map((line) => line.replace("Olive Owner", "Oliver Owner"));
    const files = [
      [],
      ["{}"],
      ["no JSON"],
      lines.slice(0, 1),
      lines.slice(0, -1),
      lines.slice(0, Math.floor(lines.length / 2)),
      [...lines, lines[1] ?? ""],
      lines.toSpliced(3, 1),
      changed,
      lines.with(2, (lines[2] ?? "").slice(0, -5)),
      lines.with(2, JSON.stringify({ table: "d1_migrations", row: { id: 1 } })),
      lines.with(0, (lines[0] ?? "").replace('"longshore_backup":1', '"longshore_backup":2')),
    ];
    for (const file of files) {
      await expect(restoreLines(file), JSON.stringify(file).slice(0, 200)).rejects.toThrow(
        /nothing was restored|not a backup|this release reads 1/,
      );
    }
    expect(await countOf("organizations", undefined, env.RESTORED)).toBe(0);
    await restoreLines(lines);
    expect(await countOf("organizations", undefined, env.RESTORED)).toBeGreaterThan(0);
  });

  it("refuses a file of another migration", async () => {
    await newWorld();
    const [header = "", ...rest] = await backUp();
    const name = env.TEST_MIGRATIONS.at(-1)?.name ?? "";
    const older = { ...JSON.parse(header), migration: "0001_older.sql" };
    expect(header).toContain(name);
    const rows = rest.slice(0, -1).map((line) => JSON.parse(line) as RowLine);
    const lines = await collect(withTrailer(older, iterate(rows)));
    await expect(restoreLines(lines)).rejects.toThrow("0001_older.sql");
  });

  it("of everything refuses a database with rows, and of an organization one that has it", async () => {
    const world = await newWorld();
    const lines = await backUp();
    await restoreLines(lines);
    await expect(restoreLines(lines)).rejects.toThrow("The database has rows in organizations");
    await expect(restoreLines(lines, world.id)).rejects.toThrow(world.id);
    const other = await newWorld();
    await expect(restoreLines(await backUp(world.id), other.id)).rejects.toThrow(world.id);
  });

  it("of a deleted organization brings it back with its name, once it is purged", async () => {
    const world = await newWorld();
    const lines = await backUp();
    const target = env.RESTORED;
    await target.batch([
      target
        .prepare(
          "insert into organizations (id, name, created_at, updated_at) values (?1, char(127) || ?1, 1, 1)",
        )
        .bind(world.id),
      target
        .prepare("insert into purges values ('purge', ?1, 'organization', ?1, 1)")
        .bind(world.id),
    ]);
    await expect(restoreLines(lines, world.id)).rejects.toThrow("has not removed its data yet");
    await target.prepare("delete from purges").run();
    expect((await restoreLines(lines, world.id)).skipped).toBe(0);
    const isolate = new Instrumented({ database: target, limiters: permissive });
    const { status, body } = await world.client.via(isolate.fetch).get(`/v1/orgs/${world.id}`);
    expect([status, body.name]).toEqual([200, "Test"]);
    await expect(restoreLines(lines, world.id)).rejects.toThrow(
      "The database has the organization",
    );
  });

  it("of one organization takes its rows from a whole backup, and joins accounts by e-mail address", async () => {
    const world = await newWorld();
    const { id: projectId } = await newProject(world.client);
    const other = await newWorld();
    const lines = await backUp();
    await addKnownAccount(world);
    const { skipped } = await restoreLines(lines, world.id);
    expect(skipped).toBe(0);
    const isolate = new Instrumented({ database: env.RESTORED, limiters: permissive });
    const { status, body } = await world.client
      .via(isolate.fetch)
      .get(`/v1/projects/${projectId}/members`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ account_id: KNOWN_ACCOUNT, name: "Known" }]);
    expect((await other.client.via(isolate.fetch).get("/v1/orgs")).status).toBe(401);
    await restoreLines(lines, other.id);
    const later = new Instrumented({ database: env.RESTORED, limiters: permissive });
    expect((await other.client.via(later.fetch).get("/v1/orgs")).status).toBe(200);
    await expectNoOrphans();
    await expectExactUsage();
  });

  it("that is interrupted after the accounts still joins them by e-mail address", async () => {
    const { world } = await FullOrganization.create(600);
    await addKnownAccount(world);
    const lines = await backUp();
    const interrupted = restoreLines(lines, world.id, failingAfter(2));
    await expect(interrupted).rejects.toThrow("The connection was lost");
    await restoreLines(lines, world.id);
    for (const table of ["memberships", "changelog_entries", "audit_log"]) {
      const select = `select sum(account_id = '${KNOWN_ACCOUNT}') as known,
        sum(account_id = '${world.accountId}') as own from ${table}`;
      const { known, own } = (await env.RESTORED.prepare(select).first()) ?? {};
      expect([table, Number(known) > 0, own]).toEqual([table, true, 0]);
    }
  });

  it("that is interrupted continues with the same file, and refuses another", async () => {
    await FullOrganization.create(600);
    const lines = await backUp();
    const others = await backUp();
    await expect(restoreLines(lines, undefined, failingAfter(4))).rejects.toThrow(
      "The connection was lost",
    );
    const partial = await countOf("organizations", undefined, env.RESTORED);
    expect(partial).toBeGreaterThan(0);
    await expect(restoreLines(others)).rejects.toThrow("another file");
    const { skipped } = await restoreLines(lines);
    expect(skipped).toBe(0);
    for (const name of BACKUP_TABLES.keys()) {
      expect(await countOf(name, undefined, env.RESTORED), name).toBe(
        new Set(rowsIn(lines, name).map((row) => JSON.stringify(row))).size,
      );
    }
    await expectExactUsage();
  });

  it("leaves out rows whose parent is missing, names them, and clears references that may be empty", async () => {
    const world = await newWorld();
    const project = await newProject(world.client);
    const environment = `/v1/environments/${project.default_environment_id}`;
    const post = async (path: string, body: object) =>
      (await world.client.post(`${environment}/${path}`, body)).body;
    const component = await post("components", { name: "api", kind: "service" });
    const stack = await post("stacks", { name: "api", component_id: component.id });
    const value = { name: "A", storage_method: "string", value: "a" };
    const { body: variable } = await world.client.post(
      `/v1/components/${component.id}/variables`,
      value,
    );
    const [header = "", ...rest] = await backUp(world.id);
    const rows = rest.slice(0, -1).map((line) => JSON.parse(line) as RowLine);
    const kept = rows.filter(({ row }) => row["id"] !== component.id);
    const report = await restoreLines(
      await collect(withTrailer(JSON.parse(header), iterate(kept))),
    );
    expect(report).toMatchObject({ skipped: 1, skippedRows: [`variables ${variable.id}`] });
    const found = await env.RESTORED.prepare("select component_id from stacks where id = ?")
      .bind(stack.id)
      .first();
    expect(found).toEqual({ component_id: null });
    await expectNoOrphans();
  });
});

describe("the lines of a file", () => {
  it("end at line feeds only, also between chunks", async () => {
    const chunks = ['{"a":"\u2028\r', '"}\n{"b"', ":1}\n", '{"c":1}'];
    const lines = await collect(linesOf(iterate(chunks)));
    expect(lines).toEqual(['{"a":"\u2028\r"}', '{"b":1}', '{"c":1}']);
  });
});

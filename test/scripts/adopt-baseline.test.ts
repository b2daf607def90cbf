import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { BACKUP_TABLES } from "../../packages/server/src/backup/tables.ts";
import { adopt, applyAll } from "../../scripts/adopt-baseline/adopt.ts";
import { convertBackup } from "../../scripts/adopt-baseline/convert-backup.ts";
import { findDifferences, readSchema, type Schema } from "../../scripts/lib/schema.ts";
import { issueApiKey } from "../../src/features/identity/api-keys/credentials.ts";
import { issueRunnerToken } from "../../src/features/identity/runner-tokens/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { hmacHex } from "../../src/lib/digest.ts";
import { newId } from "../../src/lib/ids.ts";
import { pathsOf, READS } from "../support/all-reads.ts";
import {
  collect,
  expectExactUsage,
  expectNoOrphans,
  iterate,
  restoreLines,
} from "../support/backups.ts";
import {
  adoptionWith,
  BACKUP_LINES,
  createBeforeBaseline,
  run,
} from "../support/before-baseline.ts";
import { Client } from "../support/client.ts";
import { emptyDatabase } from "../support/empty-database.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import { permissive } from "../walk/fixture.ts";

const adoption = adoptionWith(env.RESTORED, env.TEST_MIGRATIONS);

type Row = Record<string, unknown>;
type Rows = ReadonlyMap<string, Row[]>;

/** The columns whose values the adoption changes in these rows, and the tables that get rows. All others stay. */
const REWRITTEN = [
  // 0 stood for an expiry in another column.
  "api_keys.expires_at",
  "trusts.issued_by_key_id",
  // Deliveries have shown their own copy of an event's data.
  "events is new",
  // Nobody knows who created the seeded deployments. One of them is queued, and ends.
  ...["creators", "creator_membership_id", "creator_type", "trigger"].map(
    (name) => `deployments.${name}`,
  ),
  ...["configuration_version", "stack_count"].map((name) => `deployments.${name}`),
  ...["announced", "finished_at", "message", "record_version", "status", "updated_at"].map(
    (name) => `deployments.${name}`,
  ),
  ...["deployment_stacks.status", "deployment_stacks.timestamp", "deployment_days is new"],
].toSorted();

/** Counted again, or by the schedule. */
const COUNTERS = ["usage", "history_usage", "history_positions"];

beforeEach(() => createBeforeBaseline(env.DB, adoption));

afterAll(async () => {
  for (const d1 of [env.DB, env.RESTORED]) {
    await emptyDatabase(d1);
    await applyD1Migrations(d1, env.TEST_MIGRATIONS);
  }
});

async function readAllRows(d1: D1Database): Promise<Rows> {
  const { results: tables } = await d1
    .prepare(
      `select name from sqlite_master where type = 'table' and name <> 'd1_migrations'
        and name not like 'sqlite|_%' escape '|' and name not like '|_cf|_%' escape '|'`,
    )
    .all<{ name: string }>();
  const results = await d1.batch<Row>(
    tables.map(({ name }) => d1.prepare(`select * from "${name}"`)),
  );
  return new Map(tables.map(({ name }, at) => [name, results[at]?.results ?? []]));
}

const keyOf = (row: Row) => String(row["id"] ?? JSON.stringify(Object.values(row).slice(0, 2)));

/** What differs from the rows before, each kind once. */
function findChanges(after: Rows, before: Rows, tables = [...after.keys()]): string[] {
  const compared = tables.filter((table) => !COUNTERS.includes(table));
  expect(compared.length).toBeGreaterThan(30);
  const changes = compared.flatMap((table) => {
    const earlier = new Map(before.get(table)?.map((row) => [keyOf(row), row]));
    const rows = after.get(table) ?? [];
    const found = new Set(rows.map(keyOf));
    const lost = [...earlier.keys()].filter((key) => !found.has(key));
    const changed = rows.flatMap((row) => {
      const known = earlier.get(keyOf(row));
      if (!known) return [`${table} is new`];
      const columns = Object.keys(row).filter((column) => column in known);
      return columns
        .filter((column) => row[column] !== known[column])
        .map((column) => `${table}.${column}`);
    });
    return [...lost.map((key) => `${table} ${key} is lost`), ...changed];
  });
  return [...new Set(changes)].toSorted();
}

/** That what is rewritten has the right values. */
function expectRewritten(after: Rows, before: Rows): void {
  const find = (rows: Rows, table: string, id: unknown) =>
    rows.get(table)?.find((row) => row["id"] === id) ?? {};
  for (const { id, expires_at, narrowed_expires_at } of before.get("api_keys") ?? []) {
    const expiry = expires_at === 0 ? narrowed_expires_at : expires_at;
    expect(find(after, "api_keys", id)["expires_at"]).toBe(expiry);
  }
  for (const { id, data, event_id, type } of before.get("deliveries") ?? []) {
    expect(find(after, "deliveries", id)).not.toHaveProperty("data");
    const event = find(after, "events", event_id);
    expect(event).toMatchObject({ type, ...(data !== "" && { data }) });
  }
  const unknown = (before.get("deployments") ?? []).filter(({ creators }) => creators === null);
  expect(unknown.map(({ status }) => status)).toEqual(["queued", "succeeded"]);
  for (const { id, status } of unknown) {
    const stacks =
      after.get("deployment_stacks")?.filter((row) => row["deployment_id"] === id) ?? [];
    expect(find(after, "deployments", id)).toMatchObject({
      status: status === "queued" ? "canceled" : status,
      creators: "[]",
      stack_count: stacks.length,
    });
    if (status !== "queued") continue;
    expect(stacks.map((row) => row["status"])).toEqual(stacks.map(() => "canceled"));
  }
}

/** An owner's key and a token of the pool that runs the attempt, whose secrets the test knows. */
async function addCredentials() {
  const attempt = await env.DB.prepare(
    "select id, pool_id, environment_id, organization_id from attempts where state = 'running' order by id limit 1",
  ).first<Record<"id" | "pool_id" | "environment_id" | "organization_id", string>>();
  const owner = `(select id from api_keys where organization_id = '${attempt?.organization_id}' and role = 'owner' and trust_id is null and session_id is null
    and scopes is null and expires_at is null order by created_at limit 1)`;
  const key = await issueApiKey(newId(systemClock));
  const token = await issueRunnerToken(newId(systemClock));
  const copy = async (table: string, source: string, issued: typeof key) => {
    const columns = await env.DB.prepare(
      `select group_concat(name) as names from pragma_table_info('${table}')`,
    ).first<string>("names");
    const values = String(columns)
      .replace(/\bid\b(?!_)/, `'${issued.id}'`)
      .replace(/\bsecret_hash\b/, `'${issued.secretHash}'`);
    await run(env.DB, [
      `insert into ${table} (${columns}) select ${values} from ${table} where id = ${source}`,
    ]);
  };
  await copy("api_keys", owner, key);
  await copy(
    "runner_tokens",
    `(select id from runner_tokens where pool_id = '${attempt?.pool_id}' limit 1)`,
    token,
  );
  return {
    client: new Client(key.key, new Instrumented({ limiters: permissive }).fetch),
    runner: new Client(token.key),
    attemptId: String(attempt?.id),
    environmentId: String(attempt?.environment_id),
    organizationId: String(attempt?.organization_id),
  };
}

describe("a database of the last commit before the baseline", () => {
  it("has the baseline's schema and all of its rows once it is adopted", async () => {
    const before = await readAllRows(env.DB);
    expect(await adopt(env.DB, adoption)).toBe(true);
    const after = await readAllRows(env.DB);
    expect(findChanges(after, before)).toEqual(REWRITTEN);
    expectRewritten(after, before);
    const created = await adoption.schemaAfter([adoption.baseline]);
    expect(findDifferences(await schemaOf(env.DB), created)).toEqual([]);
    const applied = await env.DB.prepare("select name from d1_migrations").all();
    expect(applied.results).toEqual([{ name: "0000_baseline.sql" }]);
    expect(await adopt(env.DB, adoption)).toBe(false);
    expect(findChanges(await readAllRows(env.DB), after)).toEqual([]);
  });

  it("is served once it is adopted: reads, secrets, deliveries, and what runs", async () => {
    const { client, runner, attemptId, environmentId, organizationId } = await addCredentials();
    await adopt(env.DB, adoption);
    await applyAll(env.DB, adoption.later);
    // Resources of deleted stacks go.
    await new Instrumented().sweep();
    for (const operation of READS) {
      for (const path of await pathsOf(operation, organizationId)) {
        const { status, text } = await client.get(path);
        expect(status, `${path} ${text}`).toBe(200);
      }
    }
    const leaseToken = await hmacHex(env.LEASE_SECRET, attemptId);
    const attempt = new Attempt(runner, {
      attempt_id: attemptId,
      lease_token: leaseToken,
      deployment: {},
    });
    expect((await attempt.post("heartbeat")).body.desired).toBe("continue");
    expect((await attempt.variables()).status).toBe(200);
    expect((await attempt.complete("failed", { failure_reason: "broken" })).status).toBe(200);
    const { body: deployment } = await client.post(
      `/v1/environments/${environmentId}/deployments`,
      { reason: "after the baseline" },
    );
    const next = await Attempt.started(runner);
    expect(next.deploymentId).toBe(deployment.id);
    expect((await next.succeed()).status).toBe(200);
    await new Instrumented().sweep();
    await expect
      .poll(() =>
        env.DB.prepare("select count(*) as n from deliveries where status = 'pending'").first("n"),
      )
      .toBe(0);
  });

  it("has the creators of the changelog, and knows since when each environment fails", async () => {
    const find = (sql: string) => env.DB.prepare(sql).first<Record<string, string>>();
    const unknown = (status: string) =>
      find(`select * from deployments where creators is null and status = '${status}'`);
    const [queued, succeeded] = [await unknown("queued"), await unknown("succeeded")];
    const { results: members } = await env.DB.prepare("select id from memberships limit 2").all();
    // Another one of the same project was created within the same second.
    const created = [succeeded?.["environment_id"], succeeded?.["id"]].map((record, at) => {
      const places = `'${succeeded?.["organization_id"]}', '${succeeded?.["project_id"]}'`;
      return `insert into changelog_entries (id, organization_id, project_id, membership_id, action, record_type, record_id, created_at)
        values ('${newId(systemClock)}', ${places}, '${members[at]?.["id"]}', 'created', 'deployment', '${record}', ${succeeded?.["created_at"]} + ${at})`;
    });
    const days = [1, 2].map(
      (
        day,
      ) => `insert into deployment_days (id, organization_id, project_id, environment_id, day, succeeded, failed, canceled,
          superseded, queued, run, recoveries, recovery_ms, failing_since)
        select '${newId(systemClock)}', organization_id, project_id, environment_id, ${day}, 0, 1, 0, 0, '{}', '{}', 0, 0, ${day}
        from deployments where id = '${queued?.["id"]}'`,
    );
    await run(env.DB, [...created, ...days]);
    await adopt(env.DB, adoption);
    const after = await find(`select * from deployments where id = '${succeeded?.["id"]}'`);
    expect(after?.["creator_membership_id"]).toBe(members[1]?.["id"]);
    const newest = await find(`select * from deployment_days
      where environment_id = '${queued?.["environment_id"]}' order by day desc limit 1`);
    expect(newest).toMatchObject({ canceled: 1, failing_since: 2 });
  });

  it("has its history counted again by the schedule", async () => {
    await run(env.DB, [
      "insert or replace into history_positions select 'changelog_entries', max(rowid) from changelog_entries",
    ]);
    await adopt(env.DB, adoption);
    await applyAll(env.DB, adoption.later);
    await new Instrumented().sweep();
    const sql = (from: string) => env.DB.prepare(`select ${from}`).first<number>("n");
    const counted = await sql("sum(records) as n from history_usage where kind = 'changelog'");
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBe(await sql("count(*) as n from changelog_entries"));
  });

  it.each([
    ["a trigger that is gone", "drop trigger audit_log_day"],
    ["an index that is gone", "drop index deployments_number"],
    ["another column", "alter table stacks add other text"],
    ["another table", "create table others (id text)"],
  ])("is refused and left as it is with %s", async (_, change) => {
    await run(env.DB, [change]);
    const [rows, schema] = [await readAllRows(env.DB), await schemaOf(env.DB)];
    await expect(adopt(env.DB, adoption)).rejects.toThrow(
      /nothing was changed[\s\S]*npm run restore/,
    );
    expect(findDifferences(await schemaOf(env.DB), schema)).toEqual([]);
    expect(await readAllRows(env.DB)).toEqual(rows);
  });

  it("is refused with migrations that this checkout does not know", async () => {
    await run(env.DB, ["insert into d1_migrations (name) values ('0046_mine.sql')"]);
    await expect(adopt(env.DB, adoption)).rejects.toThrow("0046_mine.sql");
  });
});

describe("an older database", () => {
  it("gets the migrations that it lacks, and the baseline", async () => {
    await createBeforeBaseline(env.DB, adoption, 40);
    expect(await adopt(env.DB, adoption)).toBe(true);
    const created = await adoption.schemaAfter([adoption.baseline]);
    expect(findDifferences(await schemaOf(env.DB), created)).toEqual([]);
  });

  it("without tables has nothing to adopt", async () => {
    await emptyDatabase(env.DB);
    await expect(adopt(env.DB, adoption)).rejects.toThrow("nothing to adopt");
  });
});

describe("a backup from before the baseline", () => {
  it("is restored as a backup of this checkout's tables", async () => {
    const before = await readAllRows(env.DB);
    await emptyDatabase(env.DB);
    const options = { organizationId: undefined, release: "1.0.0", clock: systemClock };
    const lines = await collect(convertBackup(env.DB, iterate(BACKUP_LINES), adoption, options));
    await emptyDatabase(env.RESTORED);
    await applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS);
    const { skippedRows } = await restoreLines(lines);
    expect(skippedRows).toEqual([]);
    const restored = await readAllRows(env.RESTORED);
    expect(findChanges(restored, before, [...BACKUP_TABLES.keys()])).toEqual(REWRITTEN);
    expectRewritten(restored, before);
    await expectExactUsage();
    await expectNoOrphans();
  });
});

function schemaOf(d1: D1Database): Promise<Schema> {
  return readSchema(async (sql) => (await d1.prepare(sql).all()).results);
}

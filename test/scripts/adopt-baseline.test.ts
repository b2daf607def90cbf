import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { adopt } from "../../scripts/adopt-baseline/adopt.ts";
import { convertBackup } from "../../scripts/adopt-baseline/convert-backup.ts";
import { BACKUP_TABLES } from "../../scripts/backup/tables.ts";
import { findDifferences, readSchema, type Schema } from "../../scripts/lib/schema.ts";
import { issueApiKey } from "../../src/features/identity/api-keys/credentials.ts";
import { issueRunnerToken } from "../../src/features/identity/runner-tokens/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { hmacHex } from "../../src/lib/digest.ts";
import { newId } from "../../src/lib/ids.ts";
import { pathsOf, READS } from "../support/all-reads.ts";
import { collect, expectNoOrphans, iterate, restoreLines } from "../support/backups.ts";
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

const adoption = adoptionWith(env.RESTORED, env.TEST_MIGRATIONS);

type Row = Record<string, unknown>;
type Rows = ReadonlyMap<string, Row[]>;

/** What the adoption makes of a row, where that is more than to leave out columns. */
const REWRITTEN: Readonly<Record<string, (row: Row) => Row>> = {};

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

/** Every row is there, with the same values in the columns that remain. */
function expectSameRows(after: Rows, before: Rows, tables = [...after.keys()]): void {
  expect(tables.length).toBeGreaterThan(30);
  for (const table of tables) {
    const [rows, earlier] = [after.get(table) ?? [], before.get(table) ?? []];
    const rewrite = REWRITTEN[table] ?? ((row) => row);
    const kept = Object.keys(rows[0] ?? {}).filter((column) => column in rewrite(earlier[0] ?? {}));
    const texts = (all: Row[]) =>
      all.map((row) => JSON.stringify(kept.map((column) => [column, row[column]]))).toSorted();
    expect(texts(rows), table).toEqual(texts(earlier.map(rewrite)));
  }
}

/** An owner's key and a token of the pool that runs the attempt, whose secrets the test knows. */
async function addCredentials() {
  const attempt = await env.DB.prepare(
    "select id, pool_id, organization_id from attempts where state = 'running' order by id limit 1",
  ).first<{ id: string; pool_id: string; organization_id: string }>();
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
    client: new Client(key.key),
    runner: new Client(token.key),
    attemptId: String(attempt?.id),
    organizationId: String(attempt?.organization_id),
  };
}

describe("a database of the last commit before the baseline", () => {
  it("has the baseline's schema and all of its rows once it is adopted", async () => {
    const before = await readAllRows(env.DB);
    expect(await adopt(env.DB, adoption)).toBe(true);
    const after = await readAllRows(env.DB);
    expectSameRows(after, before);
    await emptyDatabase(env.RESTORED);
    await applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS);
    const [adopted, created] = await Promise.all([env.DB, env.RESTORED].map(schemaOf));
    expect(findDifferences(adopted ?? new Map(), created ?? new Map())).toEqual([]);
    const applied = await env.DB.prepare("select name from d1_migrations").all();
    expect(applied.results).toEqual([{ name: "0000_baseline.sql" }]);
    expect(await adopt(env.DB, adoption)).toBe(false);
    expectSameRows(await readAllRows(env.DB), after);
  });

  it("is served once it is adopted: reads, secrets, deliveries, and what runs", async () => {
    const { client, runner, attemptId, organizationId } = await addCredentials();
    await adopt(env.DB, adoption);
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
    await new Instrumented().sweep();
    await expect
      .poll(() =>
        env.DB.prepare("select count(*) as n from deliveries where status = 'pending'").first("n"),
      )
      .toBe(0);
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
    expectSameRows(await readAllRows(env.DB), rows);
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
  it("is restored as a backup of the baseline's tables", async () => {
    const before = await readAllRows(env.DB);
    await emptyDatabase(env.DB);
    const options = { organizationId: undefined, release: "1.0.0", clock: systemClock };
    const lines = await collect(convertBackup(env.DB, iterate(BACKUP_LINES), adoption, options));
    await emptyDatabase(env.RESTORED);
    await applyD1Migrations(env.RESTORED, env.TEST_MIGRATIONS);
    const { skippedRows } = await restoreLines(lines);
    expect(skippedRows).toEqual([]);
    expectSameRows(await readAllRows(env.RESTORED), before, [...BACKUP_TABLES.keys()]);
    await expectNoOrphans();
  });
});

function schemaOf(d1: D1Database): Promise<Schema> {
  return readSchema(async (sql) => (await d1.prepare(sql).all()).results);
}

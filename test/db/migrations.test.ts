import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countedTables, renderUsageTriggers } from "../../scripts/lib/usage-triggers.ts";
import { emptyDatabase } from "../support/empty-database.ts";

interface Table {
  name: string;
  columns: { name: string; type: string; notnull: number }[];
  foreignKeys: { from: string; table: string; to: string; on_delete: string }[];
}

async function readTables(): Promise<Table[]> {
  const { results } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '\\_cf%' escape '\\' and name <> 'd1_migrations'",
  ).all<{ name: string }>();
  const names = results.map(({ name }) => name);
  const pragma = (of: string) => names.map((name) => env.DB.prepare(`pragma ${of}(${name})`));
  const columns = await env.DB.batch<Table["columns"][0]>(pragma("table_info"));
  const foreignKeys = await env.DB.batch<Table["foreignKeys"][0]>(pragma("foreign_key_list"));
  return names.map((name, at) => ({
    name,
    columns: columns[at]?.results ?? [],
    foreignKeys: foreignKeys[at]?.results ?? [],
  }));
}

/** Inserts one row into every empty table, parents before children. */
async function seed(): Promise<void> {
  const tables = await readTables();
  const ready = new Set<string>();
  const inserts: D1PreparedStatement[] = [];
  while (ready.size < tables.length) {
    const [next] = tables.filter(
      ({ name, foreignKeys }) =>
        !ready.has(name) && foreignKeys.every(({ table }) => table === name || ready.has(table)),
    );
    if (!next) throw new Error("The foreign keys of the tables form a cycle");
    inserts.push(insertIntoEmpty(next));
    ready.add(next.name);
  }
  await env.DB.batch(inserts);
}

function insertIntoEmpty({ name, columns, foreignKeys }: Table): D1PreparedStatement {
  const sample = (column: Table["columns"][0]) => {
    if (foreignKeys.some(({ from }) => from === column.name)) return "seed";
    if (column.type.toLowerCase() === "integer") return 1;
    return "seed";
  };
  const places = columns.map(() => "?").join(", ");
  return env.DB.prepare(
    `insert into ${name} select ${places} where not exists (select 1 from ${name})`,
  ).bind(...columns.map(sample));
}

async function countAll(tables: readonly string[]): Promise<Map<string, number>> {
  if (tables.length === 0) return new Map();
  const results = await env.DB.batch<{ n: number }>(
    tables.map((table) => env.DB.prepare(`select count(*) as n from ${table}`)),
  );
  return new Map(tables.map((table, at) => [table, Number(results[at]?.results[0]?.n)]));
}

/** All that a database has: its objects, and its rows, except when they were applied. */
async function readDatabase() {
  const { results: objects } = await env.DB.prepare(
    "select type, name, sql from sqlite_master where name not like 'sqlite|_%' escape '|' and name not like '|_cf|_%' escape '|' and name <> 'd1_migrations' order by type, name",
  ).all<{ type: string; name: string; sql: string }>();
  const tables = objects.filter(({ type }) => type === "table").map(({ name }) => name);
  const rows = tables.map(async (name) => [
    name,
    (await env.DB.prepare(`select * from ${name}`).all()).results,
  ]);
  const { results: applied } = await env.DB.prepare(
    "select id, name from d1_migrations order by id",
  ).all();
  return { objects, rows: await Promise.all(rows), applied };
}

describe("migrations", () => {
  it("result in the database that the other tests use", async () => {
    const used = await readDatabase();
    await emptyDatabase(env.DB);
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const migrated = await readDatabase();
    expect(migrated.objects.length).toBeGreaterThan(50);
    expect(migrated.applied).toHaveLength(env.TEST_MIGRATIONS.length);
    expect(used).toEqual(migrated);
  });

  it("lose no rows when they are applied one by one to a database with rows", async () => {
    await reset();
    let counts = new Map<string, number>();
    for (const migration of env.TEST_MIGRATIONS) {
      await applyD1Migrations(env.DB, [migration]);
      const kept = await countAll([...counts.keys()]);
      for (const [table, count] of counts) {
        const isCounter = table === "usage";
        const now = kept.get(table) ?? 0;
        expect(isCounter ? Math.min(now, count) : now, table).toBe(count);
      }
      await seed();
      counts = await countAll((await readTables()).map(({ name }) => name));
    }
    expect(counts.size).toBeGreaterThan(0);
    expect([...counts.values()].every((count) => count > 0)).toBe(true);
    const { results } = await env.DB.prepare("pragma foreign_key_check").all();
    expect(results).toEqual([]);
  });

  it("count the rows and bytes of a database with rows, and install the usage triggers", async () => {
    await reset();
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith("0006"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    await seed();
    await env.DB.batch(
      ["a", "b"].map((id) =>
        env.DB.prepare(
          `insert into projects (id, organization_id, name, description, default_environment_id,
             connection_status, created_at, updated_at)
           values (?1, 'seed', ?1, 'Ünïcode', ?1, 'disconnected', 0, 0)`,
        ).bind(id),
      ),
    );
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const { results } = await env.DB.prepare("select * from usage order by kind").all<{
      kind: string;
      records: number;
      bytes: number;
    }>();
    expect(results).toHaveLength(14);
    const columns = (await readTables()).find(({ name }) => name === "projects")?.columns ?? [];
    const bytes = columns.map(({ name }) => `coalesce(octet_length(${name}), 0)`).join(" + ");
    expect(await env.DB.prepare(`select sum(${bytes}) as bytes from projects`).first()).toEqual({
      bytes: results.find(({ kind }) => kind === "projects")?.bytes,
    });
    expect(results.find(({ kind }) => kind === "projects")?.records).toBe(3);
    const { sql } = (await env.DB.prepare(
      "select sql from sqlite_master where name = 'usage_projects_insert'",
    ).first<{ sql: string }>()) ?? { sql: "" };
    expect(sql).toContain("AFTER INSERT ON `projects`");
  });

  it("have the triggers that count the bytes of the tables as they are now", async () => {
    await reset();
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const { results } = await env.DB.prepare(
      "select name, sql from sqlite_master where type = 'trigger'",
    ).all<{ name: string; sql: string }>();
    const triggers = new Map(results.map(({ name, sql }) => [name, sql]));
    const rendered = countedTables().flatMap((table) => Object.entries(renderUsageTriggers(table)));
    expect(rendered.length).toBeGreaterThan(70);
    for (const [name, sql] of rendered) {
      // The semicolon ends the statement.
      const expected = `CREATE TRIGGER \`${name}\` ${sql}`.replace(/;$/, "");
      expect(triggers.get(name), `${name}: run npm run db:generate`).toBe(expected);
    }
    const isCount = (name: string) => /^usage_/.test(name);
    const names = rendered.map(([name]) => name).filter(isCount);
    expect([...triggers.keys()].filter(isCount).toSorted()).toEqual(names.toSorted());
  });

  it("count the integrations of the previous release as confirmed, and not the Slack installations that it still creates", async () => {
    await reset();
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith("0008"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    await seed();
    // The columns that the previous release knows.
    const insert = (id: string, type: string) =>
      env.DB.prepare(
        `insert into integrations (id, organization_id, project_id, type, configuration, url,
           shown_url, secret, previous_secret, previous_secret_until, disabled_at, disabled_reason,
           failing_since, paused_until, last_sent_at, links_to, created_at, updated_at)
         values (?, 'seed', 'seed', ?, '{}', 'sealed', '', null, null, null, null, null, null, null,
           null, null, 5, 6)`,
      ).bind(id, type);
    await env.DB.batch([insert("before-slack", "slack"), insert("before-webhook", "webhook")]);
    const readUsage = () =>
      env.DB.prepare("select organization_id, records from usage where kind = 'integrations'")
        .all()
        .then((r) => r.results);
    const usage = await readUsage();
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    expect(await readUsage()).toEqual(usage);
    await env.DB.batch([insert("after-slack", "slack"), insert("after-webhook", "webhook")]);
    const { results } = await env.DB.prepare(
      `select id, confirmed_at, confirm_by, slack_channel, updated_at from integrations
        where id <> 'seed' order by id`,
    ).all();
    const unknown = { confirmed_at: null, confirm_by: null, slack_channel: null, updated_at: 6 };
    expect(results).toEqual([
      { id: "after-slack", ...unknown },
      { id: "after-webhook", ...unknown },
      { id: "before-slack", ...unknown, confirmed_at: 5 },
      { id: "before-webhook", ...unknown },
    ]);
    const confirmed = await env.DB.prepare(
      `select id from integrations where id <> 'seed'
        and (type <> 'slack' or confirmed_at is not null) order by id`,
    ).all<{ id: string }>();
    expect(confirmed.results.map(({ id }) => id)).toEqual([
      "after-webhook",
      "before-slack",
      "before-webhook",
    ]);
  });

  it("copy the audit records of the previous release to the audit log, and those that it still writes", async () => {
    await reset();
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith("0009"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    await seed();
    await env.DB.prepare("delete from audit_records").run();
    // As the previous release writes them: an operator's record has the organization's ID in place of
    // the others, and a runner's that of the pool in place of the account.
    const insert = (id: string, action: string, recordId: string) => {
      const isOperator = !action.startsWith("variable");
      const isDelivery = action === "variables.delivered";
      const accountId = isDelivery ? "pool" : "account";
      const others = isOperator
        ? ["seed", "seed", "seed", "seed"]
        : ["project", accountId, isDelivery ? "pool" : "membership", "key"];
      return env.DB.prepare(
        `insert into audit_records (id, organization_id, project_id, account_id, membership_id,
           key_id, action, record_id, created_at) values (?, 'seed', ?, ?, ?, ?, ?, ?, 7)`,
      ).bind(id, ...others, action, recordId);
    };
    const insertAll = (prefix: string) =>
      env.DB.batch([
        insert(`${prefix}-1`, "variable.revealed", "variable"),
        insert(`${prefix}-2`, "variables.delivered", "attempt"),
        insert(`${prefix}-3`, "owner_key.created", "api-key"),
        insert(`${prefix}-4`, "credential.admitted", "seed"),
        insert(`${prefix}-5`, "credential.revoked", "gone"),
      ]);
    await insertAll("before");
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    await insertAll("during");

    const { results } = await env.DB.prepare("select * from audit_log order by id").all();
    const nobody = {
      credential_id: null,
      membership_id: null,
      account_id: null,
      pool_id: null,
      creator_key_id: null,
      creator_membership_id: null,
    };
    const copied = (id: string, action: string, actor: object, target: [string, string]) => {
      const isOfProject = action.startsWith("variable");
      return {
        ...{ id, organization_id: "seed", created_at: 7, action, outcome: "success" },
        ...nobody,
        ...actor,
        ...{ target_type: target[0], target_id: target[1], target_name: null },
        ...{ project_id: isOfProject ? "project" : null, client_address: null, user_agent: null },
        ...{ request_id: null, changes: null },
      };
    };
    const person = { credential_id: "key", membership_id: "membership", account_id: "account" };
    const runner = { actor_type: "runner_token", credential_id: "key", pool_id: "pool" };
    const operator = { actor_type: "operator" };
    const expected = (prefix: string) => [
      copied(`${prefix}-1`, "variable.revealed", { actor_type: "api_key", ...person }, [
        "variable",
        "variable",
      ]),
      copied(`${prefix}-2`, "variables.delivered", runner, ["attempt", "attempt"]),
      copied(`${prefix}-3`, "owner_key.created", operator, ["api_key", "api-key"]),
      // The seeded runner token.
      copied(`${prefix}-4`, "credential.admitted", operator, ["runner_token", "seed"]),
      copied(`${prefix}-5`, "credential.revoked", operator, ["api_key", "gone"]),
    ];
    expect(results).toEqual([...expected("before"), ...expected("during")]);
  });

  it("make every foreign key ON DELETE RESTRICT", async () => {
    const tables = await readTables();
    const keys = tables.flatMap(({ foreignKeys }) => foreignKeys);
    expect(keys.length).toBeGreaterThan(0);
    const others = keys.filter(({ on_delete }) => on_delete !== "RESTRICT");
    // The previous release does not know the tables of these keys, and deletes what they refer to.
    const from = (parent: string) => ({ table: parent, on_delete: "CASCADE" });
    expect(others).toEqual([
      expect.objectContaining(from("projects")),
      expect.objectContaining(from("integrations")),
      expect.objectContaining(from("projects")),
      expect.objectContaining(from("runner_pools")),
    ]);
  });

  it("give every table an organization_id, except accounts, organizations, the positions of tables, and parts of revocations", async () => {
    const tables = await readTables();
    const without = tables.filter(
      ({ columns }) => !columns.some(({ name }) => name === "organization_id"),
    );
    expect(without.map(({ name }) => name).toSorted()).toEqual([
      "accounts",
      "history_positions",
      "organizations",
      "revocation_parts",
    ]);
  });
});

import { DatabaseSync } from "node:sqlite";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { getTableName } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { readDefinitions } from "../../scripts/lib/definitions.ts";
import { readMigrations } from "../../scripts/lib/migrations.ts";
import { findDifferences, readSchema } from "../../scripts/lib/schema.ts";
import { FEATURES } from "../../src/features/index.ts";

/** The schema of a new database on which these statements were executed. */
async function schemaAfter(statements: readonly string[]) {
  const database = new DatabaseSync(":memory:");
  for (const sql of statements) database.exec(sql);
  const schema = await readSchema(async (sql) => database.prepare(sql).all());
  database.close();
  return schema;
}

const migrated = () => schemaAfter(readMigrations().map(({ sql }) => sql));

/** What drizzle-kit creates for the tables, and the definitions that it cannot generate. */
async function declared() {
  const tables = FEATURES.flatMap(({ tables: owned = [] }) => owned.map(({ table }) => table));
  const byName = Object.fromEntries(tables.map((table) => [getTableName(table), table]));
  const [nothing, all] = [
    await generateSQLiteDrizzleJson({}),
    await generateSQLiteDrizzleJson(byName),
  ];
  const definitions = readDefinitions().flatMap(({ statements }) => [...statements.values()]);
  return schemaAfter([...(await generateSQLiteMigration(nothing, all)), ...definitions]);
}

describe("the migrations", () => {
  it("result in the tables, indexes and triggers that the source declares", async () => {
    const [made, wanted] = [await migrated(), await declared()];
    expect(wanted.size).toBeGreaterThan(500);
    expect(findDifferences(made, wanted), "Run npm run db:generate").toEqual([]);
  });

  it("have a comment for each group of triggers", () => {
    const all = readMigrations().map(({ sql }) => sql);
    for (const { comment, statements } of readDefinitions()) {
      expect(comment).toMatch(/^-- \w.+\.$/ms);
      expect(statements.size, comment).toBeGreaterThan(0);
      expect(all.join("")).toContain(`${comment}\n`);
    }
  });
});

describe("two schemas", () => {
  const table =
    "create table things (id text primary key not null, size integer default 0 not null)";
  const differences = async (one: string[], other: string[]) =>
    findDifferences(await schemaAfter(one), await schemaAfter(other));

  it("are equal whatever the order of columns and the spaces of a trigger", async () => {
    const trigger = "create trigger counted after insert on things begin select 1; end";
    expect(
      await differences(
        [table, trigger],
        [
          "create table things (size integer default 0 not null, id text primary key not null)",
          trigger.replaceAll(" ", "\n  "),
        ],
      ),
    ).toEqual([]);
  });

  it.each([
    ["column things.size", ["create table things (id text primary key not null, size integer)"]],
    ["column things.more", [table, "alter table things add more text"]],
    ["index sized of things, part 0", [table, "create index sized on things (size)"]],
    [
      "foreign key things.size to things",
      [
        "create table things (id text primary key not null, size integer default 0 not null references things (id))",
      ],
    ],
    [
      "trigger counted",
      [table, "create trigger counted after insert on things begin select 1; end"],
    ],
  ])("differ in a %s", async (part, other) => {
    expect(await differences([table], other)).toContain(part);
  });
});

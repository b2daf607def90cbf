import { and, asc, eq, getTableColumns, inArray, isNull, Name, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { alias, SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { Dialect } from "../../src/db/dialect.ts";
import { deployments } from "../../src/features/deployments/deployments/table.ts";
import { environments } from "../../src/features/tenancy/environment-table.ts";
import { projects } from "../../src/features/tenancy/project-table.ts";

const other = alias(projects, 'an"other');
const { id, name, createdAt } = projects;
const database = drizzle({} as D1Database);
const list = database
  .select({ id, size: sql<number>`1`.as("size") })
  .from(projects)
  .as("list");
const named = database.$with("named").as(database.select({ id }).from(projects));

const PARTS = {
  texts: sql`select 'a' -- ? "quoted"`,
  "values of each type": sql`${1}, ${"é?"}, ${null}, ${true}, ${new Uint8Array([1])}`,
  "nothing for undefined": sql`a ${undefined} b`,
  lists: sql`a in ${[1, "b", sql`c`, [2]]} ${[]}`,
  "columns and tables": sql`${id} from ${projects} join ${other} on ${other.id}`,
  names: sql`${sql.identifier('a"b')} ${new Name("c")}`,
  "values of columns": sql`${sql.param(true, deployments.isAbsolute)} ${sql.param(null, name)}`,
  placeholders: sql`${sql.placeholder("a")} ${eq(id, sql.placeholder("b"))}`,
  aliases: sql`${sql`max(${createdAt})`.as("newest")}`,
  "derived tables": sql`${list} where ${list.id} = ${list.size}`,
  selects: sql`exists ${database.select({ id }).from(projects).where(isNull(name))}`,
  conditions: and(eq(id, "x"), inArray(name, ["a", "b"]), sql`${sql.raw("raw()")}`) ?? sql``,
  joined: sql.join([sql`a`, sql`${2}`], sql`, `),
};

describe("a statement", () => {
  it.each(Object.entries(PARTS))("has the text and the parameters of Drizzle: %s", (_, part) => {
    const { sql: text, params } = new SQLiteAsyncDialect().sqlToQuery(part);
    expect(new Dialect().sqlToQuery(part)).toEqual({ sql: text, params });
    expect(text).not.toBe("");
  });

  it("of each kind has them, too", () => {
    const statementsOf = (db: typeof database) => [
      db
        .with(named)
        .select({ ...getTableColumns(environments), own: sql`${environments.id}`.as("own") })
        .from(environments)
        .leftJoin(other, eq(other.id, environments.projectId))
        .innerJoin(named, eq(named.id, other.id))
        .where(eq(environments.name, "production"))
        .orderBy(asc(createdAt))
        .limit(3)
        .offset(1),
      db.insert(projects).select(sql`select ${id} from ${projects}`).onConflictDoNothing(),
      db
        .update(deployments)
        .set({ isAbsolute: false, number: sql`number + ${1}`, reason: null })
        .where(eq(deployments.id, "x"))
        .returning({ id: deployments.id }),
      db.delete(projects).where(inArray(id, db.select({ id: list.id }).from(list))),
    ];
    const expected = statementsOf(database).map((statement) => statement.toSQL());
    expect(statementsOf(openDatabase({} as D1Database)).map((each) => each.toSQL())).toEqual(
      expected,
    );
  });
});

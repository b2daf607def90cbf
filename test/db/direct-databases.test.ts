import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyDatabase } from "../support/empty-database.ts";

type Query = (database: D1Database) => Promise<unknown>;

beforeEach(async () => {
  await emptyDatabase(env.BOUND);
  for (const database of [env.DB, env.BOUND]) {
    await database.batch([
      database.prepare("drop table if exists direct"),
      database.prepare("create table direct (id integer primary key, name text unique)"),
      database.prepare("insert into direct values (1, 'a')"),
    ]);
  }
});

const prepared =
  (sql: string, ...values: unknown[]): Query =>
  (database) =>
    database
      .prepare(sql)
      .bind(...values)
      .all();

/** Each leaves the rows of the table as they were. */
const QUERIES: Record<string, Query> = {
  "values of each type": prepared("select 1 as a, 1.5 as b, 'ü' as c, null as d, x'00ff' as e"),
  parameters: prepared("select ?1, ?2, ?3, ?4", "text", 2, null, new Uint8Array([0, 255])),
  "two columns of a name": (database) =>
    database.prepare("select 1 as a, 2 as a").raw({ columnNames: true }),
  "one value": (database) => database.prepare("select name from direct").first("name"),
  "a column that is missing": (database) => database.prepare("select 1 as a").first("b"),
  "a write": (database) => database.prepare("update direct set name = name").run(),
  "a script": (database) => database.exec("select 1\nselect 2"),
  "a batch": (database) =>
    database.batch([
      database.prepare("insert into direct values (2, 'b')"),
      database.prepare("select count(*) as n from direct"),
      database.prepare("delete from direct where id = 2"),
    ]),
  "a batch that fails": (database) =>
    database.batch([
      database.prepare("delete from direct"),
      database.prepare("insert into missing values (1)"),
    ]),
  "an error of the syntax": prepared("selec"),
  "a table that is missing": prepared("select * from missing"),
  "a name that is taken": prepared("insert into direct values (2, 'a')"),
  "too many parameters": prepared("select ?1", 1, 2),
  "more parameters than D1 allows": prepared(
    `select ${Array.from({ length: 101 }, () => "?")}`,
    ...Array.from({ length: 101 }, (_, at) => at),
  ),
  "an unsupported value": prepared("select ?1", undefined),
  "several statements in one": prepared("select 1 as a; select 2 as b"),
  "a statement that ends twice": prepared("select 1;;"),
  "no statement": prepared("-- nothing"),
  "only spaces": prepared(" "),
  "a statement that D1 forbids": prepared("pragma journal_mode = off"),
};

/** Without times; the databases have different sizes. */
async function outcomeOf(query: Query, database: D1Database): Promise<unknown> {
  try {
    const text = JSON.stringify(await query(database));
    return JSON.parse(text, (name, value) =>
      /duration|^served_by$|^sql_duration_ms$|^size_after$/.test(name) ? typeof value : value,
    );
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { name: error.name, message: error.message, cause: String(error.cause) };
  }
}

describe("the database of the tests", () => {
  it.each(Object.entries(QUERIES))("answers as the binding of Miniflare: %s", async (_, query) => {
    const direct = await outcomeOf(query, env.DB);
    expect(direct).toEqual(await outcomeOf(query, env.BOUND));
    for (const database of [env.DB, env.BOUND]) {
      const { results } = await database.prepare("select * from direct").all();
      expect(results).toEqual([{ id: 1, name: "a" }]);
    }
  });

  it("reports its size, as the binding", async () => {
    const growths = [env.DB, env.BOUND].map(async (database) => {
      const insert = "insert into direct values (2, zeroblob(8000000))";
      const before = (await prepared("select 1")(database)) as D1Result;
      const after = await database.prepare(insert).run();
      await database.prepare("delete from direct where id = 2").run();
      return [before, after].map(({ meta }) => meta.size_after);
    });
    for (const [before = 0, after = 0] of await Promise.all(growths)) {
      expect(before).toBeGreaterThan(0);
      expect(after - before).toBeGreaterThan(6_000_000);
    }
  });

  it("has the sessions of the binding, and their bookmarks", async () => {
    const session = env.DB.withSession("first-primary");
    expect(session.getBookmark()).toBeNull();
    await session.prepare("insert into direct values (2, 'b')").run();
    const bookmark = session.getBookmark();
    expect(bookmark).toMatch(/^[0-9a-f-]+$/);
    const other = env.DB.withSession(String(bookmark));
    expect(await other.prepare("select count(*) as n from direct").first("n")).toBe(2);
  });

  it("is called by the client of the binding, but without the Worker that the binding calls", () => {
    expect(env.DB.constructor).toBe(env.BOUND.constructor);
    const [direct, bound] = [env.DB, env.BOUND].map((each) => Reflect.get(each, "fetcher"));
    expect(direct.constructor).toBe(Object);
    expect(bound.constructor.name).toBe("Fetcher");
  });
});

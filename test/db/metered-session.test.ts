import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { meter } from "../../src/db/metered-session.ts";
import { databaseSize } from "../../src/lib/database-size.ts";
import { UNITS } from "../../src/lib/database-units.ts";

const ROWS = 12;

/** A metered session, and what it has charged for each call. */
function metered() {
  const charged: number[] = [];
  const session = meter(env.DB.withSession("first-primary"), (units) => charged.push(units));
  return { session, charged };
}

beforeAll(async () => {
  const values = Array.from({ length: ROWS }, (_, at) => `(${at}, 'name ${at}')`).join(", ");
  await env.DB.batch([
    env.DB.prepare("create table metered (id integer primary key, name text)"),
    env.DB.prepare("create index metered_name on metered (name)"),
    env.DB.prepare(`insert into metered values ${values}`),
  ]);
});

describe("a metered session", () => {
  it.each(["all", "run", "raw"] as const)("charges the rows that %s reads", async (method) => {
    const { session, charged } = metered();
    await session.prepare("select * from metered")[method]();
    await session.prepare("select * from metered where id = ?").bind(3)[method]();
    expect(charged).toEqual([ROWS * UNITS.rowRead, UNITS.rowRead]);
  });

  it("charges a row that is written with its rows in indexes", async () => {
    const { session, charged } = metered();
    await session.prepare("insert into metered values (?, ?)").bind(100, "a").run();
    await session.prepare("delete from metered where id = 101").run();
    expect(charged[0]).toBeGreaterThanOrEqual(2 * UNITS.rowWritten);
    expect(charged[1]).toBeLessThan(UNITS.rowWritten);
    await env.DB.prepare("delete from metered where id = 100").run();
  });

  it("charges the statements of a batch together, and returns their results in order", async () => {
    const { session, charged } = metered();
    const [all, one] = await session.batch<{ id: number }>([
      session.prepare("select id from metered where id > ? order by id").bind(8),
      session.prepare("select id from metered where id = ?").bind(2),
    ]);
    expect(all?.results.map(({ id }) => id)).toEqual([9, 10, 11]);
    expect(one?.results).toEqual([{ id: 2 }]);
    expect(charged).toEqual([4 * UNITS.rowRead]);
  });

  it("charges the texts that a statement takes and returns", async () => {
    const { session, charged } = metered();
    const text = "é".repeat(5_000);
    await session.prepare("select length(?) as length").bind(text).all();
    await session.prepare("select printf('%.*c', 5000, 'x') as text").raw();
    await session.batch([
      session.prepare("select ? as text").bind(text),
      session.prepare("select length(?) + ? as length").bind(text, 3),
    ]);
    const [sent, returned] = [5 * UNITS.kilobyteSent, 5 * UNITS.kilobyteReturned];
    expect(charged).toEqual([sent, returned, sent + returned + sent]);
    await expect(
      session.prepare("select * from missing where name = ?").bind(text).all(),
    ).rejects.toThrow("no such table");
    expect(charged.at(-1)).toBe(sent + UNITS.failure);
  });

  it("charges for what fails, and rejects as D1 does", async () => {
    const { session, charged } = metered();
    await expect(session.prepare("select * from missing").all()).rejects.toThrow("no such table");
    const statements = ["select 1", "insert into metered values (1, 'taken')"].map((sql) =>
      session.prepare(sql),
    );
    await expect(session.batch(statements)).rejects.toThrow("UNIQUE");
    expect(charged).toEqual([UNITS.failure, 2 * UNITS.failure]);
  });

  it.each(["all", "run", "raw"] as const)(
    "notes the size that D1 reports of %s",
    async (method) => {
      const { session } = metered();
      const { meta } = await env.DB.prepare("select 1").run();
      await session.prepare("create table filler (text)").run();
      const before = Number(databaseSize());
      expect(before).toBeGreaterThan(meta.size_after);
      await session.batch([
        session.prepare("insert into filler values (randomblob(100000))"),
        session.prepare("select 1"),
      ]);
      const filled = Number(databaseSize());
      expect(filled - before).toBeGreaterThan(90_000);
      await session.prepare("drop table filler").run();
      await session.prepare("select 1")[method]();
      expect(databaseSize()).toBeLessThanOrEqual(before);
    },
  );

  it("returns the arrays of raw", async () => {
    const { session } = metered();
    const sql = "select name, id, null as missing from metered where id in (3, 5) order by id desc";
    const plain = await env.DB.prepare(sql).raw();
    expect(plain).toEqual([
      ["name 5", 5, null],
      ["name 3", 3, null],
    ]);
    expect(await session.prepare(sql).raw()).toEqual(plain);
  });
});

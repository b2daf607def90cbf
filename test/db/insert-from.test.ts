import { env } from "cloudflare:workers";
import { asc, eq, getTableColumns, type InferSelectModel, like, sql } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openForWriting } from "../../src/db/client.ts";
import { insertFrom } from "../../src/db/insert-from.ts";
import { deployments } from "../../src/features/deployments/deployments/table.ts";
import { accounts } from "../../src/features/tenancy/member-table.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { connect, newDeployment, newProject, newWorld } from "../support/world.ts";

type Account = InferSelectModel<typeof accounts>;

const { db } = openForWriting(env.DB);
const COLUMNS = Object.keys(getTableColumns(accounts)) as (keyof Account)[];

function newAccount(fields: Partial<Account> = {}): Account {
  const id = newId(systemClock);
  return {
    id,
    email: `${id}@example.com`,
    name: "Ada",
    displayName: "Countess",
    avatar: null,
    profile: { bio: "Mathematician" },
    createdAt: 1,
    updatedAt: 2,
    version: 3,
    ...fields,
  };
}

/** The record with its keys in another order. */
function reorder<Row extends object>(row: Row, keys: readonly (keyof Row)[]): Row {
  return Object.fromEntries(keys.map((key) => [key, row[key]])) as Row;
}

async function findAccount(id: string) {
  const [row] = await db.select().from(accounts).where(eq(accounts.id, id));
  return row;
}

describe("insertFrom", () => {
  it("writes every column by name, whatever the order of the keys", async () => {
    const order = fc.shuffledSubarray(COLUMNS, { minLength: COLUMNS.length });
    const text = fc.string({ unit: "grapheme" });
    const fields = fc.record({
      name: text,
      displayName: text,
      avatar: fc.option(text),
      profile: fc.record({ bio: text, github: text }, { requiredKeys: [], noNullPrototype: true }),
      createdAt: fc.nat(),
      updatedAt: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(order, fields, async (keys, values) => {
        const account = newAccount(values);
        await insertFrom(db, accounts, reorder(account, keys), sql`where true`);
        expect(await findAccount(account.id)).toEqual(account);
      }),
      { numRuns: 50 },
    );
  });

  it("encodes JSON, and writes null as NULL", async () => {
    const account = newAccount({ profile: { bio: 'with "quotes"', location: "Ünïcode" } });
    await insertFrom(db, accounts, account, sql`where true`);
    const row = await env.DB.prepare("select profile, avatar from accounts where id = ?")
      .bind(account.id)
      .first();
    expect(row).toEqual({ profile: JSON.stringify(account.profile), avatar: null });
  });

  it.each([
    [true, 1],
    [false, 0],
  ])("encodes the boolean %s as %i", async (isAbsolute, stored) => {
    const { client } = await newWorld();
    const { id, default_environment_id: environmentId } = await newProject(client);
    await connect(client, id);
    await newDeployment(client, environmentId);
    const [deployment] = await db
      .select()
      .from(deployments)
      .where(eq(deployments.environmentId, environmentId));
    if (!deployment) throw new Error("The environment has no deployment");
    const copy = { ...deployment, id: newId(systemClock), number: 1_000, isAbsolute };
    await insertFrom(db, deployments, copy, sql`where true`);
    const [row] = await db.select().from(deployments).where(eq(deployments.id, copy.id));
    expect(row).toEqual(copy);
    const value = await env.DB.prepare("select is_absolute from deployments where id = ?")
      .bind(copy.id)
      .first("is_absolute");
    expect(value).toBe(stored);
  });

  it("takes SQL values, and writes one row for each row of its source", async () => {
    const prefix = newId(systemClock);
    const account = newAccount();
    await insertFrom(
      db,
      accounts,
      {
        ...account,
        id: sql`${prefix} || source.key`,
        email: sql`${prefix} || source.key`,
        name: sql`upper(source.value)`,
        updatedAt: sql`source.key + ${10}`,
      },
      sql`from json_each(${JSON.stringify(["ada", "grace"])}) as source`,
    );
    const rows = await db
      .select()
      .from(accounts)
      .where(like(accounts.id, `${prefix}%`))
      .orderBy(asc(accounts.id));
    const [first, second] = [`${prefix}0`, `${prefix}1`];
    expect(rows).toEqual([
      { ...account, id: first, email: first, name: "ADA", updatedAt: 10 },
      { ...account, id: second, email: second, name: "GRACE", updatedAt: 11 },
    ]);
  });

  it("writes nothing if its condition does not hold", async () => {
    const account = newAccount();
    const written = await insertFrom(db, accounts, account, sql`where ${1} = ${2}`).returning();
    expect(written).toEqual([]);
    expect(await findAccount(account.id)).toBeUndefined();
  });
});

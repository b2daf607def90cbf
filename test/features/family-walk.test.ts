import { env } from "cloudflare:workers";
import { type SQL, sql } from "drizzle-orm";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { openForReading } from "../../src/db/client.ts";
import {
  type FamilyReach,
  familyTable,
  familyWays,
  isWhole,
  rootOf,
  walkFamily,
} from "../../src/features/identity/credentials/index.ts";
import { newServiceAccount, newWorld, type World } from "../support/world.ts";

const NODES = 40;
const REACHES: FamilyReach[] = ["founded", "switched"];
const KEY_TABLES = ["api_keys", "revoked_keys"];
const SESSION_TABLES = ["sessions", "ended_sessions"];

/** Of the columns that lead from one to another. */
interface Row {
  table: string;
  id: string;
  organization_id: string;
  membership_id: string;
  [column: string]: string | null;
}

const { db } = openForReading(env.DB);

let home: World;
let other: World;
let memberships: Row[];

beforeEach(async () => {
  home = await newWorld();
  other = await newWorld();
  const of = async (world: World) => ({
    ...{ table: "memberships", id: await newServiceAccount(world) },
    ...{ organization_id: world.id, membership_id: "" },
  });
  memberships = [await of(home), await of(home), await of(other), await of(other)];
});

/** What the columns of a row have at random: a number of a node, or none. */
const link = fc.option(fc.nat(NODES - 1), { nil: null, freq: 1 });
const node = fc.record({
  table: fc.constantFrom(...KEY_TABLES, ...KEY_TABLES, ...SESSION_TABLES, "removed_memberships"),
  membership: fc.nat(3),
  source: fc.constantFrom("api_key", "open_id_connect"),
  links: fc.array(link, { minLength: 4, maxLength: 4 }),
});
const graphs = fc.record({
  nodes: fc.array(node, { minLength: NODES - 4, maxLength: NODES - 4 }),
  adding: fc.array(link, { minLength: 4, maxLength: 4 }),
  roots: fc.array(fc.nat(NODES - 1), { minLength: 3, maxLength: 3 }),
});
type Graph = typeof graphs extends fc.Arbitrary<infer Value> ? Value : never;

function toRows({ nodes, adding }: Graph): Row[] {
  const ids = [
    ...memberships.map(({ id }) => id),
    ...nodes.map(() => crypto.randomUUID().replaceAll("-", "").slice(0, 26)),
  ];
  const idOf = (at: number | null | undefined) => (at == null ? null : (ids[at] ?? null));
  const made = nodes.map(({ table, membership, source, links }, at): Row => {
    const [first, second, third, fourth] = links.map(idOf);
    const owner = memberships[membership];
    const row = {
      ...{ table, id: ids[at + 4] ?? "", organization_id: owner?.organization_id ?? "" },
      membership_id: owner?.id ?? "",
    };
    if (KEY_TABLES.includes(table)) {
      return {
        ...{ ...row, issued_by_key_id: first ?? null, created_by_session_id: second ?? null },
        ...{ rotated_by_key_id: third ?? null, replaced_by_key_id: fourth ?? null },
      };
    }
    if (SESSION_TABLES.includes(table)) {
      return { ...row, source, key_id: first ?? null, created_by_session_id: second ?? null };
    }
    return { ...row, added_by_key_id: first ?? null, added_by_session_id: second ?? null };
  });
  const members = memberships.map((row, at) => ({ ...row, added_by_key_id: idOf(adding[at]) }));
  return [...members, ...made];
}

/** What a table needs besides the columns of `Row`. */
const REST: Record<string, Record<string, string | number>> = {
  api_keys: { name: "x", role: "member", last_four: "abcd", created_at: 1, secret_hash: "" },
  revoked_keys: { name: "x", role: "member", last_four: "abcd", created_at: 1, revoked_at: 2 },
  sessions: { created_at: 1, expires_at: 9, secret_hash: "" },
  ended_sessions: { created_at: 1, ended_at: 2 },
  removed_memberships: { created_at: 1, removed_at: 2 },
};

async function remove(rows: readonly Row[]): Promise<void> {
  const stored = rows.filter(({ table }) => table !== "memberships");
  const statements = stored.map(({ table, id }) =>
    env.DB.prepare(`delete from ${table} where id = ?`).bind(id),
  );
  await env.DB.batch(statements);
}

async function store(rows: readonly Row[]): Promise<void> {
  const statements = rows.map(({ table, ...row }) => {
    if (table === "memberships") {
      const added = "update memberships set added_by_key_id = ?2 where id = ?1";
      return env.DB.prepare(added).bind(row.id, row["added_by_key_id"] ?? null);
    }
    const { membership_id: membershipId, ...others } = { ...REST[table], ...row };
    const all: Record<string, string | number | null> = {
      ...others,
      ...(table !== "removed_memberships" && { membership_id: membershipId }),
      ...("secret_hash" in others && { secret_hash: row.id }),
    };
    const names = Object.keys(all);
    const values = names.map(() => "?").join(", ");
    const insert = `insert into ${table} (${names.join(", ")}) values (${values})`;
    return env.DB.prepare(insert).bind(...Object.values(all));
  });
  await env.DB.batch(statements);
}

/** The highest degree of each member, from the rules in words: see `familyWays`. */
function familyIn(rows: readonly Row[], root: string, reach: FamilyReach): Map<string, number> {
  const degrees = new Map([[root, 2]]);
  const raise = (id: string | null | undefined, degree: number) => {
    if (id == null || degree <= (degrees.get(id) ?? -1)) return false;
    degrees.set(id, degree);
    return true;
  };
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const [id, degree] of [...degrees]) {
      for (const row of rows) {
        const isHome = row.organization_id === home.id;
        const next = Math.min(degree, 1);
        const found: [string | null | undefined, number][] = [];
        if (KEY_TABLES.includes(row.table)) {
          const { issued_by_key_id: issuer, replaced_by_key_id: successor } = row;
          const makers = [issuer, row["created_by_session_id"], row["rotated_by_key_id"]];
          if ([...makers, row.membership_id].includes(id)) found.push([row.id, next]);
          if (row.id === id) found.push([successor, next]);
          if (successor === id && degree === 2) found.push([row.id, 2]);
        } else if (SESSION_TABLES.includes(row.table)) {
          const isTheirs =
            row.membership_id === id && (degree > 0 || row.table === "ended_sessions");
          if (isTheirs) found.push([row.id, next]);
          const continued = reach === "switched" ? next : Number(isHome);
          if (row["created_by_session_id"] === id) found.push([row.id, continued]);
          if (row.id === id && row["source"] === "open_id_connect")
            found.push([row["key_id"], next]);
        } else if ([row["added_by_key_id"], row["added_by_session_id"]].includes(id)) {
          found.push([row.id, isHome ? 0 : next]);
        }
        for (const [each, to] of found) hasChanged = raise(each, to) || hasChanged;
      }
    }
  }
  return degrees;
}

const MEMBER = {
  id: sql<string>`item.id`.as("id"),
  degree: sql<number>`item.degree`.as("degree"),
};

function toDegrees(rows: readonly { id: string; degree: number }[]): Map<string, number> {
  return new Map(
    rows.toSorted((a, b) => a.degree - b.degree).map(({ id, degree }) => [id, degree]),
  );
}

async function walk(root: string, reach: FamilyReach): Promise<Map<string, number>> {
  const select = (members: SQL) => db.select(MEMBER).from(sql`(${members}) as item`);
  const start = { roots: [root], organizationId: home.id, ways: familyWays(reach) };
  const found: { id: string; degree: number }[] = [];
  for await (const rows of walkFamily(db, start, select)) found.push(...rows);
  return toDegrees(found);
}

/** With one statement. */
async function select(root: string, reach: FamilyReach) {
  const family = familyTable(rootOf(root), home.id, familyWays(reach));
  const whole = sql<number>`item.is_whole`.as("is_whole");
  const rows = await db
    .select({ ...MEMBER, whole })
    .from(
      sql`(${family} select id, degree, ${isWhole(familyWays(reach))} as is_whole from family) as item`,
    );
  return { degrees: toDegrees(rows), isWhole: rows.every((row) => row.whole) };
}

/** How many of the families one statement finds. */
async function compare(rows: readonly Row[], root: string): Promise<number> {
  let whole = 0;
  for (const reach of REACHES) {
    const expected = familyIn(rows, root, reach);
    expect(await walk(root, reach)).toEqual(expected);
    const found = await select(root, reach);
    if (found.isWhole) expect(found.degrees).toEqual(expected);
    whole += Number(found.isWhole);
  }
  return whole;
}

describe("the walk of a family", () => {
  it("finds what the rules say, in any graph, and one statement finds it if it is whole", async () => {
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(graphs, async (graph) => {
        const rows = toRows(graph);
        await store(rows);
        try {
          for (const at of graph.roots) whole += await compare(rows, rows[at]?.id ?? "");
        } finally {
          await remove(rows);
        }
      }),
      { numRuns: 12 },
    );
    expect(whole).toBeGreaterThan(5);
  });

  it.each([
    ["api_keys", "issued_by_key_id"],
    ["api_keys", "rotated_by_key_id"],
    ["revoked_keys", "rotated_by_key_id"],
    ["revoked_keys", "created_by_session_id"],
    ["revoked_keys", "membership_id"],
    ["sessions", "created_by_session_id"],
    ["ended_sessions", "membership_id"],
    ["removed_memberships", "added_by_key_id"],
  ])("reads many of the table %s by the column %s in pages", async (table, column) => {
    const root = memberships[1]?.id ?? "";
    const count = 2_345;
    const rows = Array.from({ length: count }, (_, at): Row => {
      const id = `${crypto.randomUUID().slice(0, 8)}${at}`;
      const row = { table, id, organization_id: home.id, membership_id: memberships[0]?.id ?? "" };
      const source = SESSION_TABLES.includes(table) ? { source: "api_key" } : {};
      return { ...row, ...source, [column]: root };
    });
    await store(rows);
    const found = await walk(root, "founded");
    expect(rows.filter(({ id }) => !found.has(id))).toEqual([]);
    expect(found.size).toBe(count + 1);
    expect((await select(root, "founded")).isWhole).toBe(false);
  });
});

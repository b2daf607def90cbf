import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Database } from "../src/db/client.ts";
import { placeOf } from "../src/features/variables/place.ts";
import { rotateBatch } from "../src/features/variables/rotation.ts";
import { Cipher } from "../src/lib/cipher.ts";
import type { Parsed } from "./support/client.ts";
import { newProject, newWorld } from "./support/world.ts";

const VALUES = 25;
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
// The suite's own key, and one to come.
const OLD = `test:${keyOf(7)}`;
const NEW = `next:${keyOf(8)}`;

interface Row {
  id: string;
  organization_id: string;
  value: string;
}

/** Variables of one environment, sealed under the old key; their values by ID. */
async function newVariables(): Promise<{ path: string; values: Map<string, string> }> {
  await env.DB.prepare("delete from variables").run();
  const { client } = await newWorld();
  const project = await newProject(client);
  const path = `/v1/environments/${project.default_environment_id}/variables`;
  const variables = Array.from({ length: VALUES }, (_, index) => ({
    name: `V_${index}`,
    storage_method: "secret",
    value: `value ${index}`,
  }));
  const { body } = await client.put(path, { mode: "replace", variables });
  const byName = new Map(variables.map(({ name, value }) => [name, value]));
  const values = new Map<string, string>(
    body.data.map(({ id, name }: Parsed) => [id, byName.get(name)]),
  );
  return { path, values };
}

const rows = async () =>
  (await env.DB.prepare("select id, organization_id, value from variables order by id").all<Row>())
    .results;

async function expectReadable(cipher: Cipher, values: ReadonlyMap<string, string>): Promise<void> {
  const found = await rows();
  expect(found).toHaveLength(values.size);
  for (const { id, organization_id, value } of found) {
    expect(await cipher.open(value, placeOf(organization_id, id))).toBe(values.get(id));
  }
}

/** A database that dies with its n-th batch: before it, or after it but before its answer. */
function dying(batches: number, after: boolean): Database {
  let left = batches;
  const database = {
    prepare: (sql: string) => env.DB.prepare(sql),
    batch: async (statements: D1PreparedStatement[]) => {
      left -= 1;
      if (left > 0) return env.DB.batch(statements);
      if (after) await env.DB.batch(statements);
      throw new Error("Killed");
    },
  };
  return drizzle(database as unknown as D1Database);
}

async function rotateAll(db: Database, cipher: Cipher, size: number): Promise<number> {
  let resealed = 0;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const batch = await rotateBatch(db, cipher, { after, size });
    resealed += batch.resealed;
    after = batch.next;
  }
  return resealed;
}

describe("key rotation", () => {
  it("killed anywhere and resumed leaves every value readable at every moment", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const cuts = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 1, max: 30 }), async (each, size) => {
        const { values } = await newVariables();
        for (const [batches, after] of each) {
          await rotateAll(dying(batches, after), cipher, size).catch((error: Error) => {
            expect(String(error)).toContain("Killed");
          });
          await expectReadable(cipher, values);
        }
        await rotateAll(drizzle(env.DB), cipher, size);
        await expectReadable(await Cipher.of(NEW), values);
        expect(await rotateAll(drizzle(env.DB), cipher, size)).toBe(0);
      }),
      { numRuns: 15 },
    );
  });

  it("writes each value once, and nothing else of its row", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    await newVariables();
    const others = async () =>
      (await env.DB.prepare("select id, name, version, updated_at from variables").all()).results;
    const before = await others();
    expect(await rotateAll(drizzle(env.DB), cipher, 10)).toBe(VALUES);
    expect(await others()).toEqual(before);
    expect((await rows()).every(({ value }) => value.startsWith("next."))).toBe(true);
  });

  it("never puts an old value over one that is written meanwhile", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const { values } = await newVariables();
    const [victim] = await rows();
    if (!victim) throw new Error("There are variables");
    const racing = {
      prepare: (sql: string) => env.DB.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        const sealed = await (await Cipher.of(OLD)).seal(
          "newer",
          placeOf(victim.organization_id, victim.id),
        );
        await env.DB.prepare("update variables set value = ? where id = ?")
          .bind(sealed, victim.id)
          .run();
        return env.DB.batch(statements);
      },
    };
    const db = drizzle(racing as unknown as D1Database);
    const { resealed } = await rotateBatch(db, cipher, { after: "", size: 50 });
    expect(resealed).toBe(VALUES - 1);
    await expectReadable(cipher, new Map(values).set(victim.id, "newer"));
  });

  it("names what no key opens, leaves it as it is, and goes on", async () => {
    await newVariables();
    const [lost] = await rows();
    await env.DB.prepare("update variables set value = ? where id = ?")
      .bind("gone.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", lost?.id)
      .run();
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const batch = await rotateBatch(drizzle(env.DB), cipher, { after: "", size: 50 });
    expect(batch).toEqual({ resealed: VALUES - 1, unreadable: [lost?.id], next: undefined });
    expect((await rows()).filter(({ value }) => value.startsWith("gone."))).toHaveLength(1);
  });
});

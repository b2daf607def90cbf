import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Database } from "../../src/db/client.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import { type RotationBatch, rotateBatch } from "../../src/features/key-rotation/rotation.ts";
import type { SealedColumn } from "../../src/lib/cipher.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import type { Client, Parsed } from "../support/client.ts";
import { newIntegration, newKey, newProject, newWorld } from "../support/world.ts";

const VARIABLES = 20;
/** Each has a URL and a secret; every second one also has a previous secret. */
const INTEGRATIONS = 6;
const SEALED = VARIABLES + INTEGRATIONS * 2 + INTEGRATIONS / 2;
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
// OLD is the key of the test environment.
const OLD = `test:${keyOf(7)}`;
const NEW = `next:${keyOf(8)}`;

interface Row {
  id: string;
  organization_id: string;
  sealed: string;
}

/** The plain texts, by column and row ID. */
type Texts = ReadonlyMap<string, string>;

const nameOf = ({ table, column }: SealedColumn, id: string) => `${table}.${column} ${id}`;

async function rowsOf({ table, column }: SealedColumn): Promise<Row[]> {
  const { results } = await env.DB.prepare(
    `select id, organization_id, ${column} as sealed from ${table}
      where ${column} is not null order by id`,
  ).all<Row>();
  return results;
}

/** Creates rows in every sealed column, under the old key. */
async function newSealedTexts() {
  await env.DB.batch(
    ["deliveries", "integrations", "variables"].map((table) =>
      env.DB.prepare(`delete from ${table}`),
    ),
  );
  const world = await newWorld();
  const project = await newProject(world.client);
  const path = `/v1/environments/${project.default_environment_id}/variables`;
  const variables = Array.from({ length: VARIABLES }, (_, index) => ({
    name: `V_${index}`,
    storage_method: "secret",
    value: `value ${index}`,
  }));
  const { body } = await world.client.put(path, { mode: "replace", variables });
  const byName = new Map(variables.map(({ name, value }) => [name, value]));
  const texts = new Map<string, string>(
    body.data.map(({ id, name }: Parsed) => [`variables.value ${id}`, byName.get(name)]),
  );
  const { client } = await newKey(world);
  for (let at = 0; at < INTEGRATIONS; at += 1)
    await newIntegrationWithSecrets(client, project, texts, at);
  expect(texts.size).toBe(SEALED);
  return texts;
}

async function newIntegrationWithSecrets(
  client: Client,
  project: Parsed,
  texts: Map<string, string>,
  at: number,
): Promise<void> {
  const url = `https://hooks.example.com/?at=${at}`;
  const { id, secret } = await newIntegration(client, project.id, [], url);
  texts.set(`integrations.url ${id}`, url).set(`integrations.secret ${id}`, secret);
  if (at % 2 === 0) return;
  const path = `/v1/projects/${project.id}/notification-integrations/${id}/rotate-secret`;
  const { body } = await client.post(path, undefined);
  texts.set(`integrations.secret ${id}`, body.secret);
  texts.set(`integrations.previous_secret ${id}`, secret);
}

async function expectReadable(cipher: Cipher, texts: Texts): Promise<void> {
  const opened = new Map<string, string>();
  for (const column of SEALED_COLUMNS) {
    for (const { id, organization_id, sealed } of await rowsOf(column)) {
      const text = await cipher.open(sealed, column.contextOf(organization_id, id));
      opened.set(nameOf(column, id), text);
    }
  }
  expect(opened).toEqual(texts);
}

/** Fails at its n-th batch, before or after its execution. */
function failingDatabase(batches: number, after: boolean): Database {
  let remaining = batches;
  return databaseWith(async (statements) => {
    remaining -= 1;
    if (remaining > 0) return env.DB.batch(statements);
    if (after) await env.DB.batch(statements);
    throw new Error("Killed");
  });
}

function databaseWith(batch: (statements: D1PreparedStatement[]) => Promise<D1Result[]>): Database {
  const database = { prepare: (sql: string) => env.DB.prepare(sql), batch };
  return drizzle(database as unknown as D1Database);
}

/** Like the command `rotate-keys`. */
async function rotateAll(db: Database, cipher: Cipher, size: number): Promise<number> {
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const batch = await rotateBatch(db, cipher, column, { after, size });
      resealed += batch.resealed;
      after = batch.next;
    }
  }
  return resealed;
}

/** Replaces the text of a variable by one that no key opens. */
async function makeUnreadable(id: string): Promise<void> {
  await env.DB.prepare("update variables set value = ? where id = ?")
    .bind("gone.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", id)
    .run();
}

const ONE_BATCH = { after: "", size: 50 };
const columnNamed = (name: string) => {
  const found = SEALED_COLUMNS.find(({ table, column }) => `${table}.${column}` === name);
  if (!found) throw new Error(`${name} is not sealed`);
  return found;
};

describe("key rotation", () => {
  it("keeps every text readable when it is interrupted at any point and resumed", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const interruptions = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.boolean()), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(interruptions, fc.integer({ min: 1, max: 30 }), async (each, size) => {
        const texts = await newSealedTexts();
        for (const [batches, after] of each) {
          await rotateAll(failingDatabase(batches, after), cipher, size).catch((error: Error) => {
            expect(String(error)).toContain("Killed");
          });
          await expectReadable(cipher, texts);
        }
        await rotateAll(drizzle(env.DB), cipher, size);
        await expectReadable(await Cipher.of(NEW), texts);
        expect(await rotateAll(drizzle(env.DB), cipher, size)).toBe(0);
      }),
      { numRuns: 12 },
    );
  });

  it("writes each text once, and no other column of its row", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    await newSealedTexts();
    const others = async () => {
      const results = await env.DB.batch<Record<string, unknown>>([
        env.DB.prepare("select * from variables order by id"),
        env.DB.prepare("select * from integrations order by id"),
      ]);
      const sealed = SEALED_COLUMNS.map(({ column }) => column);
      return results
        .flatMap((each) => each.results)
        .map((row) => Object.entries(row).filter(([name]) => !sealed.includes(name)));
    };
    const before = await others();
    expect(await rotateAll(drizzle(env.DB), cipher, 10)).toBe(SEALED);
    expect(await others()).toEqual(before);
    const rows = (await Promise.all(SEALED_COLUMNS.map(rowsOf))).flat();
    expect(rows).toHaveLength(SEALED);
    expect(rows.every(({ sealed }) => sealed.startsWith("next."))).toBe(true);
  });

  it.each(SEALED_COLUMNS.map((column) => [`${column.table}.${column.column}`, column] as const))(
    "never overwrites a %s that is written concurrently",
    async (_, column) => {
      const cipher = await Cipher.of(`${NEW},${OLD}`);
      const texts = await newSealedTexts();
      const rows = await rowsOf(column);
      const [changed] = rows;
      if (!changed) throw new Error("There are rows");
      const racing = databaseWith(async (statements) => {
        const context = column.contextOf(changed.organization_id, changed.id);
        const sealed = await (await Cipher.of(OLD)).seal("newer", context);
        await env.DB.prepare(`update ${column.table} set ${column.column} = ? where id = ?`)
          .bind(sealed, changed.id)
          .run();
        return env.DB.batch(statements);
      });
      const { resealed } = await rotateBatch(racing, cipher, column, ONE_BATCH);
      expect(resealed).toBe(rows.length - 1);
      await expectReadable(cipher, new Map(texts).set(nameOf(column, changed.id), "newer"));
    },
  );

  it("reseals a secret that concurrently becomes the previous secret", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const texts = new Map(await newSealedTexts());
    const [changed] = await rowsOf(columnNamed("integrations.secret"));
    if (!changed) throw new Error("There are rows");
    const { id } = changed;
    const context = columnNamed("integrations.secret").contextOf(changed.organization_id, id);
    let batches = 0;
    const racing = databaseWith(async (statements) => {
      batches += 1;
      // The Worker already seals under the new key.
      if (batches === 3) {
        await env.DB.prepare(
          "update integrations set previous_secret = secret, secret = ? where id = ?",
        )
          .bind(await cipher.seal("rotated", context), id)
          .run();
      }
      return env.DB.batch(statements);
    });
    await rotateAll(racing, cipher, 50);
    expect(batches).toBeGreaterThanOrEqual(3);
    texts.set(`integrations.previous_secret ${id}`, texts.get(`integrations.secret ${id}`) ?? "");
    texts.set(`integrations.secret ${id}`, "rotated");
    await expectReadable(await Cipher.of(NEW), texts);
  });

  it.each([
    ["the first of a batch", (at: number) => at === 0],
    ["the last of a batch", (at: number) => at === 4],
    ["one of the last batch", (at: number) => at === VARIABLES - 1],
    ["a whole batch", (at: number) => at >= 5 && at < 10],
    ["everything but the last text", (at: number) => at < VARIABLES - 1],
  ])(
    "goes on after %s is unreadable, and reports each unreadable text once",
    async (_, isBroken) => {
      await newSealedTexts();
      const column = columnNamed("variables.value");
      const broken = (await rowsOf(column)).filter((_row, at) => isBroken(at)).map(({ id }) => id);
      for (const id of broken) await makeUnreadable(id);
      const cipher = await Cipher.of(`${NEW},${OLD}`);
      const batches: RotationBatch[] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page = { after, size: 5 };
        const batch: RotationBatch = await rotateBatch(drizzle(env.DB), cipher, column, page);
        batches.push(batch);
        after = batch.next;
      }
      expect(batches.flatMap(({ unreadable }) => unreadable)).toEqual(broken);
      expect(batches.reduce((sum, { resealed }) => sum + resealed, 0)).toBe(
        VARIABLES - broken.length,
      );
      const remaining = (await rowsOf(column)).filter(({ sealed }) => !sealed.startsWith("next."));
      expect(remaining.map(({ id }) => id)).toEqual(broken);
    },
  );

  it("reports texts that no key opens, leaves them unchanged, and continues", async () => {
    await newSealedTexts();
    const column = columnNamed("variables.value");
    const [unreadable] = await rowsOf(column);
    await makeUnreadable(String(unreadable?.id));
    const cipher = await Cipher.of(`${NEW},${OLD}`);
    const batch = await rotateBatch(drizzle(env.DB), cipher, column, ONE_BATCH);
    expect(batch).toEqual({
      resealed: VARIABLES - 1,
      unreadable: [unreadable?.id],
      next: undefined,
    });
    const remaining = (await rowsOf(column)).filter(({ sealed }) => sealed.startsWith("gone."));
    expect(remaining).toHaveLength(1);
  });
});

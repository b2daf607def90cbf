import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Database } from "../../src/db/client.ts";
import {
  type RotationBatch,
  rotateBatch,
} from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import {
  columnNamed,
  databaseWith,
  expectReadable,
  makeUnreadable,
  NEW_KEY,
  nameOf,
  newSealedTexts,
  OLD_KEY,
  rotateOnce,
  rowsOf,
  SEALED,
  VARIABLES,
  writeSealed,
} from "../support/sealed-texts.ts";
import { newWorld } from "../support/world.ts";

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
const ONE_BATCH = { after: "", size: 50 };

describe("key rotation", () => {
  it("keeps every text readable when it is interrupted at any point and resumed", async () => {
    const cipher = await Cipher.of(`${NEW_KEY},${OLD_KEY}`);
    const interruptions = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.boolean()), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(interruptions, fc.integer({ min: 1, max: 30 }), async (each, size) => {
        const texts = await newSealedTexts();
        for (const [batches, after] of each) {
          await rotateOnce(failingDatabase(batches, after), cipher, size).catch((error: Error) => {
            expect(String(error)).toContain("Killed");
          });
          await expectReadable(cipher, texts);
        }
        await rotateOnce(drizzle(env.DB), cipher, size);
        await expectReadable(await Cipher.of(NEW_KEY), texts);
        expect(await rotateOnce(drizzle(env.DB), cipher, size)).toBe(0);
      }),
      { numRuns: env.EFFORT.interruptedRotations },
    );
  });

  it("writes each text once, and no other column of its row", async () => {
    const cipher = await Cipher.of(`${NEW_KEY},${OLD_KEY}`);
    await newSealedTexts();
    const others = async () => {
      const results = await env.DB.batch<Record<string, unknown>>([
        env.DB.prepare("select * from variables order by id"),
        env.DB.prepare("select * from integrations order by id"),
        env.DB.prepare("select * from idempotency_records order by id"),
      ]);
      const sealed = SEALED_COLUMNS.map(({ column }) => column);
      return results
        .flatMap((each) => each.results)
        .map((row) => Object.entries(row).filter(([name]) => !sealed.includes(name)));
    };
    const before = await others();
    expect(await rotateOnce(drizzle(env.DB), cipher, 10)).toBe(SEALED);
    expect(await others()).toEqual(before);
    const rows = (await Promise.all(SEALED_COLUMNS.map(rowsOf))).flat();
    expect(rows).toHaveLength(SEALED);
    expect(rows.every(({ sealed }) => sealed.startsWith("next.v2."))).toBe(true);
  });

  it.each(SEALED_COLUMNS.map((column) => [`${column.table}.${column.column}`, column] as const))(
    "never overwrites a %s that is written concurrently",
    async (_, column) => {
      const cipher = await Cipher.of(`${NEW_KEY},${OLD_KEY}`);
      const texts = await newSealedTexts();
      const rows = await rowsOf(column);
      const [changed] = rows;
      if (!changed) throw new Error("There are rows");
      const racing = databaseWith(async (statements) => {
        const context = column.contextOf(changed);
        const sealed = await (await Cipher.of(OLD_KEY)).seal("newer", context);
        await writeSealed(column, changed.id, sealed);
        return env.DB.batch(statements);
      });
      const { resealed } = await rotateBatch(racing, cipher, column, ONE_BATCH);
      expect(resealed).toBe(rows.length - 1);
      await expectReadable(cipher, new Map(texts).set(nameOf(column, changed.id), "newer"));
    },
  );

  it("reseals a secret that concurrently becomes the previous secret", async () => {
    const cipher = await Cipher.of(`${NEW_KEY},${OLD_KEY}`);
    const texts = new Map(await newSealedTexts());
    const [changed] = await rowsOf(columnNamed("integrations.secret"));
    if (!changed) throw new Error("There are rows");
    const { id } = changed;
    const context = columnNamed("integrations.secret").contextOf(changed);
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
    await rotateOnce(racing, cipher, 50);
    expect(batches).toBeGreaterThanOrEqual(3);
    texts.set(`integrations.previous_secret ${id}`, texts.get(`integrations.secret ${id}`) ?? "");
    texts.set(`integrations.secret ${id}`, "rotated");
    await expectReadable(await Cipher.of(NEW_KEY), texts);
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
      const cipher = await Cipher.of(`${NEW_KEY},${OLD_KEY}`);
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
      const remaining = (await rowsOf(column)).filter(
        ({ sealed }) => !sealed.startsWith("next.v2."),
      );
      expect(remaining.map(({ id }) => id)).toEqual(broken);
    },
  );

  it("keeps a repeated request repeatable, with the secret of its response", async () => {
    const world = await newWorld();
    const create = () =>
      world.client.request(
        "POST",
        `/v1/orgs/${world.id}/api-keys`,
        { name: "ci" },
        { "idempotency-key": "ci" },
      );
    const first = await create();
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${NEW_KEY},${OLD_KEY}`), 50);
    // The Worker of the tests has only the old key.
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${OLD_KEY},${NEW_KEY}`), 50);
    const repeated = await create();
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(repeated.text).toBe(first.text);
    expect(repeated.body.key).toMatch(/^lsh_/);
  });
});

describe("the context of a sealed column", () => {
  it.each(SEALED_COLUMNS.map((column) => [`${column.table}.${column.column}`, column] as const))(
    "of %s has every foreign key of the row",
    async (_, column) => {
      const { results } = await env.DB.prepare(`pragma foreign_key_list(${column.table})`).all();
      const foreignKeys = results.map(({ from }) => String(from));
      expect(foreignKeys.length).toBeGreaterThan(0);
      expect(Object.values(column.keys).toSorted()).toEqual(["id", ...foreignKeys].toSorted());
      const row = Object.fromEntries(Object.keys(column.keys).map((name) => [name, name]));
      const context = JSON.stringify(column.contextOf(row));
      for (const name of Object.keys(column.keys)) {
        const other = JSON.stringify(column.contextOf({ ...row, [name]: "another" }));
        expect(other, name).not.toBe(context);
      }
    },
  );
});

import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rotateKeys } from "../../scripts/lib/rotation.ts";
import type { Database } from "../../src/db/client.ts";
import type { SealedColumn } from "../../src/db/sealed-column.ts";
import {
  REPLACED_ISOLATES_END_MS,
  type RotationBatch,
  rotateBatch,
} from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import type { Client, Parsed } from "../support/client.ts";
import { sealInFormV1 } from "../support/form-v1.ts";
import { newIntegration, newKey, newProject, newWorld, type World } from "../support/world.ts";

const VARIABLES = 20;
/** Each has a URL and a secret; every second one also has a previous secret. */
const INTEGRATIONS = 6;
/** Repeatable requests whose responses show a secret. */
const CREATED_KEYS = 4;
const SEALED = VARIABLES + INTEGRATIONS * 2 + INTEGRATIONS / 2 + CREATED_KEYS;
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
// OLD is the key of the test environment.
const OLD = `test:${keyOf(7)}`;
const NEW = `next:${keyOf(8)}`;

/** With the keys of its column. */
interface Row extends Record<string, unknown> {
  id: string;
  sealed: string;
}

/** The plain texts, by column and row ID. */
type Texts = ReadonlyMap<string, string>;

const nameOf = ({ table, column }: SealedColumn, id: string) => `${table}.${column} ${id}`;

async function rowsOf({ table, column, keys }: SealedColumn): Promise<Row[]> {
  const selected = Object.entries(keys).map(([name, key]) => `${key} as ${name}`);
  const { results } = await env.DB.prepare(
    `select ${selected.join()}, ${column} as sealed from ${table}
      where ${column} <> '' order by id`,
  ).all<Row>();
  return results;
}

/** Creates rows in every sealed column, under the old key. */
async function newSealedTexts() {
  await env.DB.batch(
    ["deliveries", "integrations", "variables", "idempotency_records"].map((table) =>
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
  await createKeysRepeatably(world, texts);
  expect(texts.size).toBe(SEALED);
  // The current key may have sealed texts without a form marker, too.
  await putInFormV1(OLD, texts, (at) => at % 3 === 0);
  await putInFormV1(NEW, texts, (at) => at % 3 === 1);
  return texts;
}

/** Seals some texts again without a form marker. */
async function putInFormV1(
  key: string,
  texts: Texts,
  isChosen: (at: number) => boolean,
): Promise<void> {
  for (const column of SEALED_COLUMNS) {
    for (const row of (await rowsOf(column)).filter((_, at) => isChosen(at))) {
      const text = texts.get(nameOf(column, row.id)) ?? "";
      await write(column, row.id, await sealInFormV1(key, text, column.contextOf(row)));
    }
  }
}

async function write({ table, column }: SealedColumn, id: string, sealed: string): Promise<void> {
  await env.DB.prepare(`update ${table} set ${column} = ? where id = ?`).bind(sealed, id).run();
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

/** And a record without a secret. */
async function createKeysRepeatably(world: World, texts: Map<string, string>): Promise<void> {
  const path = `/v1/orgs/${world.id}/api-keys`;
  for (let at = 0; at < CREATED_KEYS; at += 1) {
    const headers = { "idempotency-key": `key-${at}` };
    const { body } = await world.client.request("POST", path, { name: "ci" }, headers);
    const [row] = (await rowsOf(columnNamed("idempotency_records.secrets"))).filter(
      ({ id }) => !texts.has(`idempotency_records.secrets ${id}`),
    );
    texts.set(
      `idempotency_records.secrets ${row?.id}`,
      JSON.stringify({ authority: OWNER, secrets: { key: body.key } }),
    );
  }
  const headers = { "idempotency-key": "rename" };
  await world.client.request("PATCH", `${path}/${world.keyId}`, { name: "first" }, headers);
}

async function expectReadable(cipher: Cipher, texts: Texts): Promise<void> {
  const opened = new Map<string, string>();
  for (const column of SEALED_COLUMNS) {
    for (const row of await rowsOf(column)) {
      const text = await cipher.open(row.sealed, column.contextOf(row));
      opened.set(nameOf(column, row.id), text);
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

/** One pass over all columns. */
async function rotateOnce(db: Database, cipher: Cipher, size: number): Promise<number> {
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
  await write(columnNamed("variables.value"), id, "gone.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
}

/** Of the key that creates others. */
const OWNER = { role: "owner", scopes: null, projectIds: null, environmentIds: null };
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
          await rotateOnce(failingDatabase(batches, after), cipher, size).catch((error: Error) => {
            expect(String(error)).toContain("Killed");
          });
          await expectReadable(cipher, texts);
        }
        await rotateOnce(drizzle(env.DB), cipher, size);
        await expectReadable(await Cipher.of(NEW), texts);
        expect(await rotateOnce(drizzle(env.DB), cipher, size)).toBe(0);
      }),
      { numRuns: env.EFFORT.interruptedRotations },
    );
  });

  it("writes each text once, and no other column of its row", async () => {
    const cipher = await Cipher.of(`${NEW},${OLD}`);
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
      const cipher = await Cipher.of(`${NEW},${OLD}`);
      const texts = await newSealedTexts();
      const rows = await rowsOf(column);
      const [changed] = rows;
      if (!changed) throw new Error("There are rows");
      const racing = databaseWith(async (statements) => {
        const context = column.contextOf(changed);
        const sealed = await (await Cipher.of(OLD)).seal("newer", context);
        await write(column, changed.id, sealed);
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
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${NEW},${OLD}`), 50);
    // The Worker of the tests has only the old key.
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${OLD},${NEW}`), 50);
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

/** The command `rotate-keys`, without a terminal and without a clock. */
class RotationCommand {
  readonly printed: string[] = [];
  readonly failed: string[] = [];
  readonly slept: number[] = [];
  /** Runs instead of the wait. */
  duringWait: () => Promise<void> = async () => undefined;

  async run(keyring: string, remote: boolean, d1 = env.DB): Promise<number> {
    return rotateKeys(d1, await Cipher.of(keyring), {
      remote,
      sleep: async (ms) => {
        this.slept.push(ms);
        expect(this.printed.at(-1)).toContain("Waiting 120 seconds");
        expect(this.printed.join()).not.toContain("You can remove");
        await this.duringWait();
      },
      print: (line) => this.printed.push(line),
      printError: (line) => this.failed.push(line),
    });
  }
}

const REMOVE = "You can remove the other keys from ENCRYPTION_KEYS.";

describe("the command rotate-keys", () => {
  it("rewrites what the current key sealed without a form marker, and counts what remains", async () => {
    const texts = await newSealedTexts();
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${OLD},${NEW}`), 50);
    await putInFormV1(OLD, texts, (at) => at < 2);
    const command = new RotationCommand();
    expect(await command.run(OLD, false)).toBe(0);
    expect(command.printed).toEqual([
      `${2 * SEALED_COLUMNS.length} values were encrypted again with the key test.`,
      "The second pass: 0 values were encrypted again.",
      `All ${SEALED} values use the key test, and none lacks the form marker v2. ${REMOVE}`,
    ]);
    const rows = (await Promise.all(SEALED_COLUMNS.map(rowsOf))).flat();
    expect(rows.filter(({ sealed }) => !sealed.startsWith("test.v2."))).toEqual([]);
    await expectReadable(await Cipher.of(OLD), texts);
    expect(command.slept).toEqual([]);
  });

  it("waits in a deployment, and then finds what Workers of the previous one have written", async () => {
    const texts = new Map(await newSealedTexts());
    const column = columnNamed("variables.value");
    const [one, two] = await rowsOf(column);
    if (!one || !two) throw new Error("There are rows");
    const command = new RotationCommand();
    command.duringWait = async () => {
      const late = await (await Cipher.of(OLD)).seal("late", column.contextOf(one));
      await write(column, one.id, late);
      await write(column, two.id, await sealInFormV1(NEW, "later", column.contextOf(two)));
    };
    expect(await command.run(`${NEW},${OLD}`, true)).toBe(0);
    expect(command.slept).toEqual([REPLACED_ISOLATES_END_MS]);
    expect(command.printed).toEqual([
      `${SEALED} values were encrypted again with the key next.`,
      expect.stringContaining("Waiting 120 seconds"),
      "The second pass: 2 values were encrypted again.",
      expect.stringContaining(REMOVE),
    ]);
    texts.set(nameOf(column, one.id), "late").set(nameOf(column, two.id), "later");
    await expectReadable(await Cipher.of(NEW), texts);
  });

  it("does not say that a key can be removed while a value cannot be decrypted", async () => {
    await newSealedTexts();
    const [unreadable] = await rowsOf(columnNamed("variables.value"));
    await makeUnreadable(String(unreadable?.id));
    const command = new RotationCommand();
    expect(await command.run(`${NEW},${OLD}`, false)).toBe(1);
    expect(command.printed.join()).not.toContain("remove");
    expect(command.failed[0]).toBe(
      `1 of ${SEALED} values do not use the key next, or lack the form marker v2. ` +
        "Keep the other keys in ENCRYPTION_KEYS.",
    );
    expect(command.failed[1]).toContain(`variables.value of ${unreadable?.id}`);
  });

  it("asks to be run again if a value was written the old way during the second pass", async () => {
    const texts = new Map(await newSealedTexts());
    const column = columnNamed("variables.value");
    const [row] = await rowsOf(column);
    if (!row) throw new Error("There are rows");
    const late = await sealInFormV1(OLD, "late", column.contextOf(row));
    const command = new RotationCommand();
    const keyring = `${NEW},${OLD}`;
    expect(
      await command.run(
        keyring,
        false,
        writingBeforeCount(() => write(column, row.id, late)),
      ),
    ).toBe(1);
    expect(command.printed.join()).not.toContain("remove");
    expect(command.failed.at(-1)).toBe("Run this command again.");
    expect(await new RotationCommand().run(keyring, false)).toBe(0);
    await expectReadable(await Cipher.of(NEW), texts.set(nameOf(column, row.id), "late"));
  });
});

/** Runs `act` before the values are counted. */
function writingBeforeCount(act: () => Promise<void>): D1Database {
  let written: Promise<void> | undefined;
  const prepare = (sql: string) => {
    const statement = env.DB.prepare(sql);
    if (!sql.includes("count(*)")) return statement;
    const bind = (...params: unknown[]) => ({
      first: async () => {
        written ??= act();
        await written;
        return statement.bind(...params).first();
      },
    });
    return { bind };
  };
  return { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
}

import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { expect } from "vitest";
import type { Database } from "../../src/db/client.ts";
import type { SealedColumn } from "../../src/db/sealed-column.ts";
import { rotateBatch } from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import type { Cipher } from "../../src/lib/cipher.ts";
import type { Client, Parsed } from "./client.ts";
import { sealInFormV1 } from "./form-v1.ts";
import { newIntegration } from "./integrations.ts";
import { newKey, newProject, newWorld, type World } from "./world.ts";

export const VARIABLES = 20;
/** Each has a URL and a secret; every second one also has a previous secret. */
const INTEGRATIONS = 6;
/** Repeatable requests whose responses show a secret. */
const CREATED_KEYS = 4;
export const SEALED = VARIABLES + INTEGRATIONS * 2 + INTEGRATIONS / 2 + CREATED_KEYS;
const keyOf = (byte: number) => btoa(String.fromCharCode(...new Uint8Array(32).fill(byte)));
// OLD_KEY is the key of the test environment.
export const OLD_KEY = `test:${keyOf(7)}`;
export const NEW_KEY = `next:${keyOf(8)}`;

/** With the keys of its column. */
interface Row extends Record<string, unknown> {
  id: string;
  sealed: string;
}

/** The plain texts, by column and row ID. */
type Texts = ReadonlyMap<string, string>;

export const nameOf = ({ table, column }: SealedColumn, id: string) => `${table}.${column} ${id}`;

export async function rowsOf({ table, column, keys }: SealedColumn): Promise<Row[]> {
  const selected = Object.entries(keys).map(([name, key]) => `${key} as ${name}`);
  const { results } = await env.DB.prepare(
    `select ${selected.join()}, ${column} as sealed from ${table}
      where ${column} <> '' order by id`,
  ).all<Row>();
  return results;
}

/** Creates rows in every sealed column, under the old key. */
export async function newSealedTexts() {
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
  await putInFormV1(OLD_KEY, texts, (at) => at % 3 === 0);
  await putInFormV1(NEW_KEY, texts, (at) => at % 3 === 1);
  return texts;
}

/** Seals some texts again without a form marker. */
export async function putInFormV1(
  key: string,
  texts: Texts,
  isChosen: (at: number) => boolean,
): Promise<void> {
  for (const column of SEALED_COLUMNS) {
    for (const row of (await rowsOf(column)).filter((_, at) => isChosen(at))) {
      const text = texts.get(nameOf(column, row.id)) ?? "";
      await writeSealed(column, row.id, await sealInFormV1(key, text, column.contextOf(row)));
    }
  }
}

export async function writeSealed(
  { table, column }: SealedColumn,
  id: string,
  sealed: string,
): Promise<void> {
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

export async function expectReadable(cipher: Cipher, texts: Texts): Promise<void> {
  const opened = new Map<string, string>();
  for (const column of SEALED_COLUMNS) {
    for (const row of await rowsOf(column)) {
      const text = await cipher.open(row.sealed, column.contextOf(row));
      opened.set(nameOf(column, row.id), text);
    }
  }
  expect(opened).toEqual(texts);
}

export function databaseWith(
  batch: (statements: D1PreparedStatement[]) => Promise<D1Result[]>,
): Database {
  const database = { prepare: (sql: string) => env.DB.prepare(sql), batch };
  return drizzle(database as unknown as D1Database);
}

/** One pass over all columns. */
export async function rotateOnce(db: Database, cipher: Cipher, size: number): Promise<number> {
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
export async function makeUnreadable(id: string): Promise<void> {
  await writeSealed(
    columnNamed("variables.value"),
    id,
    "gone.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  );
}

/** Of the key that creates others. */
const OWNER = { role: "owner", scopes: null, projectIds: null, environmentIds: null };
export const columnNamed = (name: string) => {
  const found = SEALED_COLUMNS.find(({ table, column }) => `${table}.${column}` === name);
  if (!found) throw new Error(`${name} is not sealed`);
  return found;
};

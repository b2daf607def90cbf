import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { type CredentialPrefix, issueCredential } from "../../src/auth/credentials.ts";
import { FEATURES, SEALED_COLUMNS } from "../../src/features/index.ts";
import { cipherOf } from "../../src/lib/cipher.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client } from "./client.ts";
import { tablesChildrenFirst } from "./empty-database.ts";
import { newEmail, type World } from "./world.ts";

type Row = Record<string, unknown>;

const ID_OR_ADDRESS =
  /[a-z0-9]+@example\.com|(?<![0-9A-Za-z_])[1-9A-HJ-NP-Za-km-z]{22}(?![0-9A-Za-z_])/g;
const CREDENTIAL_TABLES = {
  lsh: "api_keys",
  lsr: "runner_tokens",
  lss: "sessions",
  lsi: "invitations",
} as const;
/** Most of the rows, what can be used once, and what triggers insert. No test reads them of a copy. */
const OMITTED = /^(audit|used_|changelog|outbox|idempotency|usage)/;

const OWNED = FEATURES.flatMap(({ tables = [] }) => tables)
  .map(({ table }) => getTableConfig(table))
  .filter(({ name }) => !OMITTED.test(name))
  .flatMap(({ name, columns }) => {
    if (name === "organizations") return [{ name, owner: "id" }];
    const isOwned = columns.some((column) => column.name === "organization_id");
    return isOwned ? [{ name, owner: "organization_id" }] : [];
  });

const CREDENTIAL = /ls[hris]_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/g;

/**
 * Creates an organization once, and returns copies of it. Files that share a runtime share the first one,
 * though not its rows.
 * @param create Returns JSON, and clients with credentials of the organization, which the copy has, too.
 */
export function copiesOf<Value extends { world: World }>(
  create: () => Promise<Value>,
): () => Promise<Value> {
  const read = async () => {
    const value = await create();
    return { text: JSON.stringify(value), template: await Template.read([value.world.id]) };
  };
  let original: ReturnType<typeof read> | undefined;
  return async () => {
    original ??= read();
    const { text, template } = await original;
    const credentials = new Set(text.match(CREDENTIAL));
    const { find } = await template.copy([...credentials], { keepsOthers: true });
    const renewed = [CREDENTIAL, ID_OR_ADDRESS].reduce(
      (copied, pattern) => copied.replaceAll(pattern, (each) => find(each) ?? each),
      text,
    );
    return JSON.parse(renewed, (_, value) => Client.ofJson(value) ?? value);
  };
}

/** A copy of the organizations of a template, with IDs and secrets of its own. */
export interface Copy {
  /** Of an ID, an address or a credential of the template. Undefined: it has none in the copy. */
  find(original: string): string | undefined;
  /** @throws Error if it has none. */
  of(original: string): string;
}

/** Organizations that are copied, which is faster than creating them by requests. */
export class Template {
  readonly #tables: ReadonlyMap<string, Row[]>;
  readonly #readAt = Date.now();

  private constructor(tables: ReadonlyMap<string, Row[]>) {
    this.#tables = tables;
  }

  static async read(organizationIds: readonly string[]): Promise<Template> {
    const ids = JSON.stringify(organizationIds);
    const within = "in (select value from json_each(?))";
    const selects = [
      ["accounts", `id in (select account_id from memberships where organization_id ${within})`],
      ...OWNED.map(({ name, owner }) => [name, `${owner} ${within}`]),
    ];
    const results = await env.DB.batch<Row>(
      selects.map(([name, where]) =>
        env.DB.prepare(`select * from ${name} where ${where}`).bind(ids),
      ),
    );
    const found = new Map(selects.map(([name], at) => [name, results[at]?.results ?? []]));
    const parentsFirst = (await tablesChildrenFirst(env.DB)).toReversed();
    const tables = parentsFirst.map((name) => [name, found.get(name) ?? []] as const);
    return new Template(new Map(tables.filter(([, rows]) => rows.length > 0)));
  }

  /**
   * @param credentials Those that are in the copy, with new secrets.
   * @param keepsOthers Whether the other credentials are there, too. Nobody knows their secrets.
   */
  async copy(credentials: readonly string[], { keepsOthers = false } = {}): Promise<Copy> {
    const renewed = new Map<string, string>();
    const renew = (original: string) => {
      const isAddress = original.includes("@");
      const copy = renewed.get(original) ?? (isAddress ? newEmail() : newId(systemClock));
      renewed.set(original, copy);
      return copy;
    };
    const originals = keepsOthers ? this.#tables : withoutOthers(this.#tables, credentials);
    const text = JSON.stringify([...originals]).replaceAll(ID_OR_ADDRESS, renew);
    const tables = new Map<string, Row[]>(JSON.parse(text));
    const secrets = await renewSecrets(tables, credentials, renew);
    await sealAgain(tables, originals);
    moveTimes(tables, Date.now() - this.#readAt);
    await insert(tables);
    const find = (original: string) => secrets.get(original) ?? renewed.get(original);
    return { find, of: (original) => find(original) ?? missing(original) };
  }
}

/** Without the other credentials, except the keys of sessions. */
function withoutOthers(
  tables: ReadonlyMap<string, Row[]>,
  credentials: readonly string[],
): Map<string, Row[]> {
  const ids = new Set<unknown>(credentials.map((each) => each.split("_")[1]));
  const sessions = tables.get(CREDENTIAL_TABLES.lss) ?? [];
  for (const row of sessions) if (ids.has(row["id"])) ids.add(row["key_id"]);
  const names: string[] = Object.values(CREDENTIAL_TABLES);
  const kept = [...tables].map(([name, rows]) => {
    return [name, names.includes(name) ? rows.filter((row) => ids.has(row["id"])) : rows] as const;
  });
  return new Map(kept.filter(([, rows]) => rows.length > 0));
}

/** Nobody knows the secrets of the keys of sessions. */
async function renewSecrets(
  tables: ReadonlyMap<string, Row[]>,
  credentials: readonly string[],
  renew: (id: string) => string,
): Promise<Map<string, string>> {
  for (const row of [...tables.values()].flat()) {
    if ("secret_hash" in row) row["secret_hash"] = crypto.randomUUID();
  }
  const renewed = credentials.map(async (original) => {
    const [prefix = "", id = ""] = original.split("_");
    const table = CREDENTIAL_TABLES[prefix as keyof typeof CREDENTIAL_TABLES];
    const row = tables.get(table)?.find((each) => each["id"] === renew(id));
    if (!row) throw new Error(`The template has no ${table} ${id}`);
    const { key, secretHash } = await issueCredential(prefix as CredentialPrefix, renew(id));
    row["secret_hash"] = secretHash;
    return [original, key] as const;
  });
  return new Map(await Promise.all(renewed));
}

/** Leases and credentials end as long after the copy as after the original. */
function moveTimes(tables: ReadonlyMap<string, Row[]>, ms: number): void {
  for (const row of [...tables.values()].flat()) {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value === "number" && isTime(column, value)) row[column] = value + ms;
    }
  }
}

const isTime = (column: string, value: number) =>
  column.endsWith("_at") && value > Date.UTC(2020, 0);

/** The context of a sealed text has IDs. */
async function sealAgain(
  copies: ReadonlyMap<string, Row[]>,
  originals: ReadonlyMap<string, Row[]>,
): Promise<void> {
  const cipher = await cipherOf(env.ENCRYPTION_KEYS);
  for (const { table, column, keys, contextOf } of SEALED_COLUMNS) {
    const contextFor = (row: Row | undefined) =>
      contextOf(Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, row?.[key]])));
    for (const [at, copy] of (copies.get(table) ?? []).entries()) {
      const original = originals.get(table)?.[at];
      const sealed = original?.[column];
      if (typeof sealed !== "string" || sealed === "") continue;
      const text = await cipher.open(sealed, contextFor(original));
      copy[column] = await cipher.seal(text, contextFor(copy));
    }
  }
}

async function insert(tables: ReadonlyMap<string, Row[]>): Promise<void> {
  const inserts = [...tables].map(([name, rows]) => {
    const columns = Object.keys(rows[0] ?? {});
    const values = columns.map((column) => `json_extract(value, '$."${column}"')`);
    return env.DB.prepare(
      `insert into ${name} (${columns}) select ${values} from json_each(?)`,
    ).bind(JSON.stringify(rows));
  });
  await env.DB.batch(inserts);
}

function missing(original: string): never {
  throw new Error(`The template has no ${original}`);
}

import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { type CredentialPrefix, issueCredential } from "../../src/auth/credentials.ts";
import { FEATURES } from "../../src/features/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { newEmail } from "../support/world.ts";

type Row = Record<string, unknown>;

const ID_OR_ADDRESS =
  /[a-z0-9]+@example\.com|(?<![0-9A-Za-z_])[1-9A-HJ-NP-Za-km-z]{22}(?![0-9A-Za-z_])/g;
const CREDENTIAL_TABLES = { lsh: "api_keys", lsr: "runner_tokens", lss: "sessions" } as const;
/** The tests read none of them: most of the rows, and what can be used once. */
const OMITTED = /^(audit|used_|changelog|outbox|idempotency)/;

const OWNED = FEATURES.flatMap(({ tables = [] }) => tables)
  .map(({ table }) => getTableConfig(table))
  .filter(({ name }) => !OMITTED.test(name))
  .flatMap(({ name, columns }) => {
    if (name === "organizations") return [{ name, owner: "id" }];
    const isOwned = columns.some((column) => column.name === "organization_id");
    return isOwned ? [{ name, owner: "organization_id" }] : [];
  });

/** A copy of the organizations of a template, with IDs and secrets of its own. */
export interface Copy {
  /** Of an ID, an address or a credential of the template. Undefined: it has none in the copy. */
  find(original: string): string | undefined;
  /** @throws Error if it has none. */
  of(original: string): string;
}

/** Organizations that are copied for each sequence, which is faster than creating them by requests. */
export class Template {
  readonly #tables: ReadonlyMap<string, Row[]>;

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
    const tables = selects.map(([name], at) => [String(name), results[at]?.results ?? []] as const);
    return new Template(new Map(tables.filter(([, rows]) => rows.length > 0)));
  }

  /** @param credentials Those that are in the copy, too. */
  async copy(credentials: readonly string[]): Promise<Copy> {
    const renewed = new Map<string, string>();
    const renew = (original: string) => {
      const isAddress = original.includes("@");
      const copy = renewed.get(original) ?? (isAddress ? newEmail() : newId(systemClock));
      renewed.set(original, copy);
      return copy;
    };
    const rows = [...withoutOthers(this.#tables, credentials)];
    const text = JSON.stringify(rows).replaceAll(ID_OR_ADDRESS, renew);
    const tables = new Map<string, Row[]>(JSON.parse(text));
    const secrets = await renewSecrets(tables, credentials, renew);
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

async function insert(tables: ReadonlyMap<string, Row[]>): Promise<void> {
  const inserts = [...tables].map(([name, rows]) => {
    const columns = Object.keys(rows[0] ?? {});
    const values = columns.map((column) => `json_extract(value, '$."${column}"')`);
    return env.DB.prepare(
      `insert into ${name} (${columns}) select ${values} from json_each(?)`,
    ).bind(JSON.stringify(rows));
  });
  await env.DB.batch([env.DB.prepare("pragma defer_foreign_keys = on"), ...inserts]);
}

function missing(original: string): never {
  throw new Error(`The template has no ${original}`);
}

import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { FEATURES } from "../../src/features/index.ts";

export type Rows = Record<string, Record<string, unknown>[]>;

/** What a use of a key and a consumer of the queue change in the background. */
export const CHANGED_IN_BACKGROUND: Record<string, readonly string[]> = {
  api_keys: ["last_used_at"],
  sessions: ["last_used_at"],
  runner_tokens: ["last_used_at"],
  integrations: ["last_sent_at"],
  deliveries: ["status", "attempts", "due_at", "finished_at", "updated_at"],
};

const OF_MEMBERS = "id in (select account_id from memberships where organization_id = ?)";
const OWNERS: Record<string, string> = { organizations: "id = ?", accounts: OF_MEMBERS };

const TABLES = FEATURES.flatMap(({ tables = [] }) => tables)
  .map(({ table }) => getTableConfig(table))
  .filter(({ name }) => name !== "delivery_attempts")
  .flatMap(({ name, columns }) => {
    const names = columns.map((column) => column.name);
    const isOwned = names.includes("organization_id");
    const owner = OWNERS[name] ?? (isOwned ? "organization_id = ?" : undefined);
    const version = ["record_version", "version"].find((each) => names.includes(each));
    return owner ? [{ name, owner, version }] : [];
  });

/** All rows of an organization and of the accounts of its members. */
export async function rowsOf(organizationId: string): Promise<Rows> {
  const results = await env.DB.batch<Record<string, unknown>>(
    TABLES.map(({ name, owner }) =>
      env.DB.prepare(`select * from ${name} where ${owner}`).bind(organizationId),
    ),
  );
  return Object.fromEntries(
    TABLES.map(({ name }, at) => {
      const ignored = CHANGED_IN_BACKGROUND[name] ?? [];
      const stable = (results[at]?.results ?? []).map((row) =>
        Object.fromEntries(Object.entries(row).filter(([column]) => !ignored.includes(column))),
      );
      return [name, stable];
    }),
  );
}

/** As if callers had written everything that has a version, each once. */
export async function bumpVersions(organizationId: string): Promise<void> {
  await env.DB.batch(
    TABLES.flatMap(({ name, owner, version }) =>
      version
        ? [
            env.DB.prepare(`update ${name} set ${version} = ${version} + 1 where ${owner}`).bind(
              organizationId,
            ),
          ]
        : [],
    ),
  );
}

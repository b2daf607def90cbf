import { env } from "cloudflare:workers";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { FEATURES } from "../../src/features/index.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { Instrumented } from "./instruments.ts";
import type { World } from "./world.ts";

export const TABLES = FEATURES.flatMap(({ tables = [] }) => tables);

export const ofOrganizations = TABLES.map(({ table, outlivesOrganization }) => {
  const { name, columns } = getTableConfig(table);
  const names = columns.map((column) => column.name);
  return { name, names, outlivesOrganization };
}).filter(({ names }) => names.includes("organization_id"));

export const remaining = ofOrganizations.filter((each) => each.outlivesOrganization === undefined);

export async function rowsIn(name: string, id: string): Promise<object[]> {
  const select = env.DB.prepare(`select * from ${name} where organization_id = ?`).bind(id);
  return (await select.all<Record<string, unknown>>()).results;
}

/** The number of rows of an organization, by table. */
export async function countRows(id: string): Promise<Record<string, number>> {
  const counts = remaining.map(
    async ({ name }) => [name, (await rowsIn(name, id)).length] as const,
  );
  return Object.fromEntries(await Promise.all(counts));
}

export const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);

export async function rowWith(table: string, id: string): Promise<Record<string, unknown> | null> {
  return env.DB.prepare(`select * from ${table} where id = ?`).bind(id).first();
}

export const purgesOf = async (id: string) => {
  const select = env.DB.prepare("select record_type from purges where organization_id = ?");
  return (await select.bind(id).all<{ record_type: string }>()).results;
};

/** Late enough for the purge to know that no request inserts rows any more. */
export const settled = () => ({ now: () => Date.now() + LIMITS.purgeSettlesMs.value + 60_000 });

export async function purge(): Promise<void> {
  await new Instrumented().sweep();
  await endPurge();
}

export async function endPurge(): Promise<void> {
  // The first run finds the memberships, the second no rows.
  await new Instrumented({ clock: settled() }).sweep();
  await new Instrumented({ clock: settled() }).sweep();
}

/** Memberships stay until the end. */
export async function countPurged(id: string): Promise<number> {
  const { memberships: _, ...purged } = await countRows(id);
  return sum(purged);
}

export async function endDeployments(id: string): Promise<void> {
  const ends = [
    "update deployments set status = 'failed', announced = 'failed' where organization_id = ?",
    "update attempts set state = 'ended' where organization_id = ?",
  ];
  await env.DB.batch(ends.map((sql) => env.DB.prepare(sql).bind(id)));
}

export const pathOf = ({ id }: Pick<World, "id">) => `/v1/orgs/${id}`;

export async function rowsOf(table: string, organizationIds: string[]): Promise<number> {
  const select = `select count(*) as n from ${table}
    where organization_id in (select value from json_each(?))`;
  const counted = env.DB.prepare(select).bind(JSON.stringify(organizationIds));
  return (await counted.first<number>("n")) ?? 0;
}

/** At most `times`. */
export async function repeatWhileLeft(
  times: number,
  table: string,
  organizationIds: string[],
  act: () => Promise<void>,
): Promise<void> {
  for (let run = 0; run < times && (await rowsOf(table, organizationIds)) > 0; run += 1)
    await act();
}

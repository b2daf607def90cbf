import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { vi } from "vitest";
import type { OwnedTable } from "../../src/db/ownership.ts";
import { rowBytes } from "../../src/db/row-bytes.ts";
import { FEATURES } from "../../src/features/index.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import { Instrumented } from "./instruments.ts";
import { newIntegration } from "./integrations.ts";
import { newProject, newWorld, type World } from "./world.ts";

export const DAY_MS = 86_400_000;
export const daysAgo = (days: number) => Math.floor(Date.now() - days * DAY_MS);
export const idAt = (time: number) => newId({ now: () => time });

/** Those whose rows the schedule counts; triggers count deployments. */
export const HISTORY = FEATURES.flatMap(
  ({ tables = [] }) => tables as readonly OwnedTable[],
).flatMap(({ table, history }) =>
  history
    ? [{ name: getTableName(table), bytes: rowBytes(table, "each", history.fixed), ...history }]
    : [],
);

export const runStatement = (sql: string, ...values: (string | number | null)[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

export async function idsOf(
  table: string,
  organizationId: string,
  where = "true",
): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select id from ${table} where organization_id = ? and ${where} order by id`,
  )
    .bind(organizationId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** What the schedule does once an hour. */
export async function countHistory(): Promise<void> {
  await runStatement("delete from history_usage where kind <> 'deployments'");
  for (const { name, kind, bytes } of HISTORY) {
    await runStatement(
      `insert into history_usage select each.organization_id, ?1, count(*), sum(${bytes}) from ${name} as each
         where true group by 1
       on conflict do update set records = records + excluded.records, bytes = bytes + excluded.bytes`,
      kind,
    );
    await runStatement(
      `insert into history_positions select ?1, coalesce(max(rowid), 0) from ${name} where true
         on conflict do update set position = excluded.position`,
      name,
    );
  }
}

export async function historyOf({ id }: World): Promise<number> {
  const query =
    "select sum(bytes) as n from history_usage where organization_id = ? and kind <> 'audit_log'";
  return (await env.DB.prepare(query).bind(id).first<number>("n")) ?? 0;
}

/** Of every organization. */
export const setShare = (bytes: number) =>
  void vi.spyOn(LIMITS.historyBytes, "value", "get").mockReturnValue(bytes);

export async function sweep(): Promise<Instrumented> {
  const isolate = new Instrumented();
  await isolate.sweep();
  return isolate;
}

interface Owner {
  world: World;
  projectId: string;
  integrationId: string;
}

export async function newOwner(): Promise<Owner> {
  const world = await newWorld();
  const project = await newProject(world.client);
  const integration = await newIntegration(world.client, project.id);
  return { world, projectId: project.id, integrationId: integration.id };
}

/** Of the same size. Returns the IDs, oldest first. */
export async function addEntries(
  { world, projectId }: Owner,
  ages: readonly number[],
): Promise<string[]> {
  const ids = ages.map((days) => idAt(daysAgo(days))).toSorted();
  await runStatement(
    `insert into changelog_entries (id, organization_id, project_id, action, record_type, record_id,
       before, created_at) select value, ?2, ?3, 'updated', 'stack', ?3, json_object('x', printf('%1000s', '')), 1700000000000
     from json_each(?1)`,
    JSON.stringify(ids),
    world.id,
    projectId,
  );
  return ids;
}

/** An event with a delivery, which has an attempt. */
export async function addDelivery(
  { world, projectId, integrationId }: Owner,
  days: number,
  status = "succeeded",
): Promise<{ event: string; delivery: string }> {
  const createdAt = daysAgo(days);
  const [event, delivery] = [idAt(createdAt), idAt(createdAt)];
  await runStatement(
    "insert into events values (?1, ?2, ?3, null, 'deployments.failed', '{}', ?4, ?4)",
    ...[event, world.id, projectId, createdAt],
  );
  await runStatement(
    `insert into deliveries select ?1, organization_id, project_id, id, ?2, 'deployments.failed', ?3, ?4, 1,
       4e12, ?3, ?3, null, null from integrations where id = ?5`,
    ...[delivery, event, createdAt, status, integrationId],
  );
  await runStatement(
    "insert into delivery_attempts values (?1, 1, ?2, ?3, 1, 200, null, null)",
    ...[delivery, world.id, createdAt],
  );
  return { event, delivery };
}

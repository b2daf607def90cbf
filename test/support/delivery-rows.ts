import { env } from "cloudflare:workers";
import { secretContext, urlContext } from "../../src/features/notifications/integrations/index.ts";
import { cipherOf } from "../../src/lib/cipher.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { maskUrl } from "../../src/lib/mask-url.ts";
import type { Parsed } from "./client.ts";

export const SECRET = `whsec_${btoa("a secret of 24 bytes....")}`;
export const OLD_SECRET = `whsec_${btoa("another one of 24 bytes.")}`;

/** Inserts an integration, by default one that subscribes to changelog events. */
export async function insertIntegration(
  project: Parsed,
  fields: {
    url?: string;
    type?: string;
    rotatedUntil?: number;
    configuration?: object;
    isConfirmed?: boolean;
  } = {},
): Promise<string> {
  const { url = "https://hooks.longshore.dev/in", type = "webhook", rotatedUntil } = fields;
  const { configuration = { changelog: true }, isConfirmed = true } = fields;
  const id = newId(systemClock);
  const cipher = await cipherOf(env.ENCRYPTION_KEYS);
  const reference = { id, organizationId: project.org_id, projectId: project.id };
  const context = secretContext(reference);
  const columns = {
    id,
    organization_id: project.org_id,
    project_id: project.id,
    type,
    configuration: JSON.stringify(configuration),
    url: await cipher.seal(url, urlContext(reference)),
    shown_url: type === "slack" ? "" : maskUrl(url),
    confirmed_at: type === "slack" && isConfirmed ? 1 : null,
    secret: type === "slack" ? null : await cipher.seal(SECRET, context),
    previous_secret: rotatedUntil === undefined ? null : await cipher.seal(OLD_SECRET, context),
    previous_secret_until: rotatedUntil ?? null,
    created_at: 1,
    updated_at: 1,
  };
  const names = Object.keys(columns);
  await env.DB.prepare(
    `insert into integrations (${names.join()}) values (${names.map(() => "?").join()})`,
  )
    .bind(...Object.values(columns))
    .run();
  return id;
}

/** Inserts events with one delivery each that is due now; returns the IDs of the deliveries. */
export async function insertDeliveries(
  project: Parsed,
  integrationId: string,
  now: number,
  count = 1,
): Promise<string[]> {
  const rows = newRows(count);
  await env.DB.batch([
    env.DB.prepare(
      `insert into events (id, organization_id, project_id, type, data, created_at, last_used_at)
        select value ->> 'event', ?2, ?3, 'changelog.created', json_object('at', value ->> 'at'),
          ?4, ?4
        from json_each(?1)`,
    ).bind(JSON.stringify(rows), project.org_id, project.id, now),
    env.DB.prepare(
      `insert into deliveries (id, organization_id, project_id, integration_id, event_id, type,
          occurred_at, status, attempts, due_at, created_at, updated_at)
        select value ->> 'id', ?2, ?3, ?4, value ->> 'event', 'changelog.created',
          ?5, 'pending', 0, ?5, ?5 + key, ?5
        from json_each(?1)`,
    ).bind(JSON.stringify(rows), project.org_id, project.id, integrationId, now),
  ]);
  return rows.map(({ id }) => id);
}

function newRows(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    id: newId(systemClock),
    event: newId(systemClock),
    at,
  }));
}

/** Inserts failed attempts of a delivery and counts them as claims. */
export async function insertAttempts(deliveryId: string, count: number): Promise<void> {
  await env.DB.batch([
    env.DB.prepare("update deliveries set attempts = attempts + ? where id = ?").bind(
      count,
      deliveryId,
    ),
    env.DB.prepare(
      `insert into delivery_attempts
        select deliveries.id, attempts - item.key, organization_id, 0, 0, 500, 'answered 500', null
        from deliveries, json_each(?) as item where deliveries.id = ?`,
    ).bind(JSON.stringify(Array(count).fill(0)), deliveryId),
  ]);
}

export interface Stored {
  id: string;
  status: string;
  failure_reason: string | null;
  attempts: number;
  due_at: number;
  finished_at: number | null;
}

export async function stored(id: string): Promise<Stored> {
  const row = await env.DB.prepare("select * from deliveries where id = ?")
    .bind(id)
    .first<Stored>();
  if (!row) throw new Error("The delivery does not exist");
  return row;
}

export async function storedIntegration(id: string): Promise<Parsed> {
  return env.DB.prepare("select * from integrations where id = ?").bind(id).first();
}

export async function storedAttempts(deliveryId: string): Promise<Parsed[]> {
  const { results } = await env.DB.prepare(
    "select * from delivery_attempts where delivery_id = ? order by number",
  )
    .bind(deliveryId)
    .all();
  return results;
}

export const updateDelivery = (id: string, set: string) =>
  env.DB.prepare(`update deliveries set ${set} where id = ?`).bind(id).run();

/** A body that no sender can read. */
export const breakEvent = (id: string) =>
  env.DB.prepare(
    "update events set data = '{' where id = (select event_id from deliveries where id = ?)",
  )
    .bind(id)
    .run();

export const updateIntegration = (id: string, set: string) =>
  env.DB.prepare(`update integrations set ${set} where id = ?`).bind(id).run();

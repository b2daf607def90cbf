import { env } from "cloudflare:workers";
import { PAYLOADS } from "../../src/features/notifications/events/event-payloads.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Client, Parsed } from "./client.ts";

/** A webhook integration that subscribes to these kinds of notification. */
export async function newIntegration(
  client: Client,
  projectId: string,
  kinds: readonly string[] = [],
  url = "https://hooks.example.com/longshore",
): Promise<Parsed> {
  const configuration = Object.fromEntries(kinds.map((kind) => [kind, true]));
  const path = `/v1/projects/${projectId}/notification-integrations`;
  const reply = await client.post(path, { type: "webhook", configuration, url });
  if (reply.status !== 201) throw new Error(`The integration was not created: ${reply.text}`);
  return reply.body;
}

/** The data of the event that `newDelivery` inserts. */
export const FAILED_DEPLOYMENT = PAYLOADS["deployments.failed"].example;

/** Inserts a delivery of an event that has been sent. */
export async function newDelivery(
  integrationId: string,
  fields: { status?: string; createdAt?: number; attempts?: number } = {},
): Promise<string> {
  const id = newId(systemClock);
  const { status = "succeeded", createdAt = 1, attempts = 1 } = fields;
  const eventId = newId(systemClock);
  await env.DB.batch([
    env.DB.prepare(
      `insert into events select ?1, organization_id, project_id, null, 'deployments.failed', ?3, 1, ?4
       from integrations where id = ?2`,
    ).bind(eventId, integrationId, JSON.stringify(FAILED_DEPLOYMENT), createdAt),
    env.DB.prepare(
      `insert into deliveries select ?1, organization_id, project_id, id, ?6, 'deployments.failed',
         1, ?3, ?5, 2, ?4, 4, iif(?3 = 'pending', null, 4), null
       from integrations where id = ?2`,
    ).bind(id, integrationId, status, createdAt, attempts, eventId),
  ]);
  return id;
}

/** Inserts a recovery that has finished. */
export async function newRecovery(integrationId: string): Promise<string> {
  const id = newId(systemClock);
  await env.DB.prepare(
    `insert into recoveries select ?1, organization_id, project_id, id, 1, 2, 'finished', null, 3, ?3,
       ?3, ?3 from integrations where id = ?2`,
  )
    .bind(id, integrationId, Date.now())
    .run();
  return id;
}

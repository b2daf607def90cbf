import { secretContext, urlContext } from "../src/features/notifications/integrations/secret.ts";
import { Cipher } from "../src/lib/cipher.ts";
import { systemClock } from "../src/lib/clock.ts";
import { newId } from "../src/lib/ids.ts";
import type { Seed } from "./seed.ts";

export const KEYRING = `bench:${Buffer.alloc(32, 7).toString("base64")}`;
export const SECRET = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;

/** The event data of a deployment with four stacks. */
export const DATA = JSON.stringify({
  deployment_id: "1C4dSLTQ9wKmCkmG3EtMZp",
  status: "succeeded",
  project: { id: "1C4dSLTQ9wKmCkmG3EtMZp", name: "storefront" },
  environment: { id: "1C4dSLTQ9wKmCkmG3EtMZp", name: "production" },
  stacks: ["api", "web", "jobs", "database"].map((name) => ({
    id: "1C4dSLTQ9wKmCkmG3EtMZp",
    name,
    status: "succeeded",
  })),
});

/** Inserts webhook integrations that send to one receiver. */
export async function insertIntegrations(
  d1: D1Database,
  { actor: { organizationId }, project }: Seed,
  { receiver, count }: { receiver: string; count: number },
): Promise<string[]> {
  const cipher = await Cipher.of(KEYRING);
  const ids = Array.from({ length: count }, () => newId(systemClock));
  const insert = d1.prepare(
    `insert into integrations (id, organization_id, project_id, type, configuration, url, shown_url,
      secret, created_at, updated_at) values (?, ?, ?, 'webhook', '{}', ?, '', ?, 1, 1)`,
  );
  const rows = ids.map(async (id) => {
    const reference = { id, organizationId, projectId: project.id };
    const url = await cipher.seal(`${receiver}/${id}`, urlContext(reference));
    const secret = await cipher.seal(SECRET, secretContext(reference));
    return insert.bind(id, organizationId, project.id, url, secret);
  });
  await d1.batch(await Promise.all(rows));
  return ids;
}

/** The ID of a delivery, with those of its event and its integration. */
export interface Delivery {
  id: string;
  event: string;
  integration: string;
}

export function newDeliveries(integrations: readonly string[], events: number): Delivery[] {
  return Array.from({ length: events }, () => newId(systemClock)).flatMap((event) =>
    integrations.map((integration) => ({ id: newId(systemClock), event, integration })),
  );
}

/** Inserts deliveries, by default due ones, and their events. */
export async function insertDeliveries(
  d1: D1Database,
  { actor: { organizationId }, project }: Seed,
  deliveries: readonly Delivery[],
  dueAt?: ReadonlyMap<Delivery, number>,
): Promise<void> {
  const now = systemClock.now();
  const items = JSON.stringify(
    deliveries.map((delivery) => ({ ...delivery, dueAt: dueAt?.get(delivery) ?? now })),
  );
  await d1.batch([
    d1
      .prepare(
        `insert or ignore into events (id, organization_id, project_id, type, data, created_at, last_used_at)
          select value ->> 'event', ?1, ?2, 'deployments.succeeded', ?3, ?4, ?4 from json_each(?5)`,
      )
      .bind(organizationId, project.id, DATA, now, items),
    d1
      .prepare(
        `insert into deliveries (id, organization_id, project_id, integration_id, event_id, type,
            occurred_at, status, attempts, due_at, created_at, updated_at)
          select value ->> 'id', ?1, ?2, value ->> 'integration', value ->> 'event',
            'deployments.succeeded', ?3, 'pending', 0, value ->> 'dueAt', ?3, ?3
          from json_each(?4)`,
      )
      .bind(organizationId, project.id, now, items),
  ]);
}

/** Waits until every delivery has been recorded as succeeded. */
export async function waitUntilDelivered(d1: D1Database): Promise<void> {
  const pending = "select count(*) as n from deliveries where status <> 'succeeded'";
  for (let tries = 0; (await d1.prepare(pending).first<number>("n")) !== 0; tries++) {
    if (tries === 100) throw new Error("Some deliveries did not finish in time");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

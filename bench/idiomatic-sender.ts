import { toPayload } from "../src/features/housekeeping/outbox/model.ts";
import type { DeliveryMessage } from "../src/features/notifications/delivery/wake-up.ts";
import { sendSigned } from "./send-signed.ts";

export { AttemptLog } from "../src/features/deployments/logs/attempt-log.do.ts";
export { HostLimiter } from "../src/features/notifications/delivery/host-limiter.do.ts";
export { OrganizationLimiter } from "../src/rate-limits/organization-limiter.do.ts";
export { RateLimiter } from "../src/rate-limits/rate-limiter.do.ts";

interface IdiomaticEnv {
  DB: D1Database;
  RECEIVER: string;
  SECRET: string;
}

const CLAIM_MS = 60_000;

/** The straightforward implementation: each message claims its delivery, sends it, and records it. */
// biome-ignore lint/style/noDefaultExport: the runtime requires it.
export default {
  async queue(batch, env) {
    await Promise.all(batch.messages.map(({ body }) => deliver(env, body.delivery_id)));
  },
} satisfies ExportedHandler<IdiomaticEnv, DeliveryMessage>;

async function deliver({ DB, RECEIVER, SECRET }: IdiomaticEnv, id: string): Promise<void> {
  const startedAt = Date.now();
  const delivery = await DB.prepare(
    `update deliveries set attempts = attempts + 1, due_at = ?1, updated_at = ?2
      where id = ?3 and status = 'pending' and due_at <= ?2
      returning event_id as eventId, type, occurred_at as occurredAt, integration_id as target,
        (select events.data from events where events.id = event_id) as data`,
  )
    .bind(startedAt + CLAIM_MS, startedAt, id)
    .first<Parameters<typeof toPayload>[0] & { target: string }>();
  if (!delivery) return;
  const body = JSON.stringify(toPayload(delivery));
  const url = `${RECEIVER}/${delivery.target}`;
  const response = await sendSigned({ url, id: delivery.eventId, body, secret: SECRET });
  const now = Date.now();
  await DB.batch([
    DB.prepare(
      `update deliveries set status = 'succeeded', updated_at = ?1,
        finished_at = ?1 where id = ?2`,
    ).bind(now, id),
    DB.prepare(
      `insert into delivery_attempts select id, attempts, organization_id, ?1, ?2, 200, null, ?3
        from deliveries where id = ?4`,
    ).bind(startedAt, now - startedAt, response, id),
  ]);
}

import type { SystemContext } from "./context.ts";
import type { Database } from "./db/client.ts";
import { Ownership } from "./db/ownership.ts";
import { FEATURES } from "./features/index.ts";
import { enqueueDeliveries } from "./features/notifications/delivery/index.ts";
import { cipherOf } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import { describeError, type Log } from "./lib/log.ts";

const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));

/** What requests, the schedule and the consumers of queues have in common. */
export function systemContext(
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
  { clock, log }: { clock: Clock; log: Log },
): SystemContext {
  return {
    db,
    ownership,
    clock,
    log,
    cipher: () => cipherOf(env.ENCRYPTION_KEYS),
    enqueue: (deliveryIds) => {
      const enqueued = enqueueDeliveries(env.DELIVERIES, deliveryIds).catch((error: unknown) => {
        log("error", "delivery.not_enqueued", describeError(error));
      });
      execution.waitUntil(enqueued);
    },
    allowsInsecureWebhooks: allowsInsecureWebhooks(env),
  };
}

/** The setting is "false" in wrangler.toml, and "true" where local development says so. */
function allowsInsecureWebhooks({ ALLOW_INSECURE_WEBHOOKS }: { ALLOW_INSECURE_WEBHOOKS: string }) {
  return ALLOW_INSECURE_WEBHOOKS === "true";
}

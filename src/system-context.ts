import type { SystemContext } from "./context.ts";
import type { Database } from "./db/client.ts";
import { ringFor } from "./features/notifications/delivery/index.ts";
import { cipherOf } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import { describeError, type Log } from "./lib/log.ts";

/** What requests, the schedule and the consumers of queues have in common. */
export function systemContext(
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
  { clock, log }: { clock: Clock; log: Log },
): SystemContext {
  return {
    db,
    clock,
    log,
    cipher: () => cipherOf(env.ENCRYPTION_KEYS),
    ring: (deliveryIds) => {
      const rung = ringFor(env.DELIVERIES, deliveryIds).catch((error: unknown) => {
        log("error", "delivery.not_rung", describeError(error));
      });
      execution.waitUntil(rung);
    },
    allowsInsecureWebhooks: allowsInsecureWebhooks(env),
  };
}

/** The setting is "false" in wrangler.toml, and "true" where local development says so. */
function allowsInsecureWebhooks({ ALLOW_INSECURE_WEBHOOKS }: { ALLOW_INSECURE_WEBHOOKS: string }) {
  return ALLOW_INSECURE_WEBHOOKS === "true";
}

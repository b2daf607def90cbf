import type { SystemContext } from "./context.ts";
import type { Database } from "./db/client.ts";
import { Ownership } from "./db/ownership.ts";
import { FEATURES } from "./features/index.ts";
import { eraseLogs, refreshFollowers, refreshLogs } from "./features/logs/index.ts";
import { wakeConsumers } from "./features/notifications/delivery/index.ts";
import { cipherOf } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import type { Fetch } from "./lib/fetch.ts";
import { describeError, type Log } from "./lib/log.ts";
import { retentionMs } from "./lib/retention.ts";

const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));
const quotas = new Map(FEATURES.flatMap(({ quotas = {} }) => Object.entries(quotas)));

export type CreateSystemContext = (
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
) => SystemContext;

/** Requests, scheduled events and queue consumers all use this context. */
export function systemContext(
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
  { clock, log, fetch }: { clock: Clock; log: Log; fetch: Fetch },
): SystemContext {
  const logDeps = { logs: env.ATTEMPT_LOG, log };
  return {
    db,
    ownership,
    quotas,
    clock,
    log,
    fetch,
    cipher: () => cipherOf(env.ENCRYPTION_KEYS),
    enqueue: (deliveries) => {
      const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId);
      const enqueued = wakeConsumers(env.DELIVERIES, deliveryIds).catch((error: unknown) => {
        log("error", "delivery.not_enqueued", describeError(error));
      });
      execution.waitUntil(enqueued);
    },
    logs: env.ATTEMPT_LOG,
    refreshLogs: (deploymentIds) => execution.waitUntil(refreshLogs(logDeps, deploymentIds)),
    refreshFollowers: (deploymentId) => {
      execution.waitUntil(refreshFollowers(logDeps, deploymentId));
    },
    eraseLogs: (deploymentIds) => eraseLogs(logDeps, deploymentIds),
    retentionMs: (period) => retentionMs(env, period),
    allowsInsecureWebhooks: env.ALLOW_INSECURE_WEBHOOKS === "true",
  };
}

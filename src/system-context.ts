import type { Settings, SystemContext } from "./context.ts";
import { type Database, openForWriting } from "./db/client.ts";
import { Ownership } from "./db/ownership.ts";
import { eraseLogs, refreshFollowers, refreshLogs } from "./features/deployments/logs/index.ts";
import { FEATURES } from "./features/index.ts";
import { wakeConsumers } from "./features/notifications/delivery/index.ts";
import { findPayer } from "./features/tenancy/index.ts";
import { cipherOf } from "./lib/cipher.ts";
import type { Clock } from "./lib/clock.ts";
import type { Fetch } from "./lib/fetch.ts";
import { describeError, type Log } from "./lib/log.ts";
import { chargeOrganization } from "./rate-limits/index.ts";

const ownership = new Ownership(FEATURES.flatMap(({ tables = [] }) => tables));

/** Requests, scheduled events and queue consumers all use this context. */
export function systemContext(
  db: Database,
  env: Env,
  execution: Pick<ExecutionContext, "waitUntil">,
  { clock, log, fetch }: { clock: Clock; log: Log; fetch: Fetch },
): SystemContext {
  const objects = env.ATTEMPT_LOG;
  const logDeps = { logs: { objects }, log };
  const payers = new Map<string, ReturnType<typeof findPayer>>();
  const context: SystemContext = {
    db,
    ownership,
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
    logs: {
      objects,
      refresh: (deploymentIds) => execution.waitUntil(refreshLogs(logDeps, deploymentIds)),
      refreshFollowers: (deploymentId) =>
        execution.waitUntil(refreshFollowers(logDeps, deploymentId)),
      erase: (deploymentIds) => eraseLogs(logDeps, deploymentIds),
    },
    settings: settingsOf(env),
    paidBy: async (organizationId, work) => {
      let units = 0;
      const paid = openForWriting(env.DB, (cost) => {
        units += cost;
      });
      try {
        return await work({ ...context, db: paid.db });
      } finally {
        const { ORGANIZATION_LIMITER: limiters } = env;
        if (units > 0) {
          const payer = payers.get(organizationId) ?? findPayer(db, organizationId);
          payers.set(organizationId, payer);
          execution.waitUntil(chargeOrganization({ limiters, log }, payer, units));
        }
      }
    },
  };
  return context;
}

/** The bindings and the secrets of the Worker stay out of the context of handlers. */
function settingsOf(env: Env & Pick<Settings, "SLACK_CLIENT_SECRET">): Settings {
  const { SLACK_CLIENT_SECRET } = env;
  return {
    ALLOW_INSECURE_WEBHOOKS: env.ALLOW_INSECURE_WEBHOOKS,
    ALLOW_NEW_ORGANIZATIONS: env.ALLOW_NEW_ORGANIZATIONS,
    TRUST_ADMINS: env.TRUST_ADMINS,
    OIDC_ISSUER: env.OIDC_ISSUER,
    OIDC_CLIENT_ID: env.OIDC_CLIENT_ID,
    RETAIN_DELIVERIES_DAYS: env.RETAIN_DELIVERIES_DAYS,
    RETAIN_CHANGELOG_DAYS: env.RETAIN_CHANGELOG_DAYS,
    RETAIN_AUDIT_DAYS: env.RETAIN_AUDIT_DAYS,
    SLACK_ORIGIN: env.SLACK_ORIGIN,
    SLACK_CLIENT_ID: env.SLACK_CLIENT_ID,
    ...(SLACK_CLIENT_SECRET !== undefined && { SLACK_CLIENT_SECRET }),
  };
}

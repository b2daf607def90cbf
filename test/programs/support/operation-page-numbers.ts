import { MINIMUM_SECRET_LENGTH } from "../../../packages/runner/src/environment.ts";
import { MAXIMUM_REPORT_BYTES } from "../../../packages/runner/src/report-file.ts";
import { MAXIMUM_BUNDLE_KB } from "../../../scripts/lib/bundle-gate.ts";
import { CACHE_TTL_MS } from "../../../src/auth/credential-cache.ts";
import {
  HEARTBEAT_INTERVAL_MS,
  LEASE_TTL_MS,
  LOST_AFTER_MS,
  OFFER_TTL_MS,
} from "../../../src/features/deployments/deployments/lifecycle.ts";
import { CHECK_EVERY_MS } from "../../../src/features/deployments/logs/follow.ts";
import { MAXIMUM_REBASES } from "../../../src/features/deployments/runner-api/start.ts";
import { REPLACED_ISOLATES_END_MS } from "../../../src/features/housekeeping/key-rotation/rotation.ts";
import { PARTS, PAUSES_PER_BATCH } from "../../../src/features/housekeeping/purge/run.ts";
import { INVITATION_TTL_MS } from "../../../src/features/identity/invitations/model.ts";
import {
  SESSION_IDLE_MS,
  SESSION_TTL_MS,
  SIGN_IN_LINK_TTL_MS,
} from "../../../src/features/identity/sessions/model.ts";
import { RELOAD_INTERVAL_MS } from "../../../src/features/identity/trusts/issuer-keys.ts";
import { CLAIM_MS } from "../../../src/features/notifications/delivery/claim.ts";
import {
  SLOW_MS,
  UNPROVEN_REQUESTS,
} from "../../../src/features/notifications/delivery/endpoints.ts";
import { KEPT_MS } from "../../../src/features/notifications/delivery/host-window.ts";
import { UNKNOWN_WAIT_MS } from "../../../src/features/notifications/delivery/hosts.ts";
import { PART_LENGTH } from "../../../src/features/notifications/delivery/redact-target.ts";
import { STATE_TTL_MS } from "../../../src/features/notifications/slack/state.ts";
import { MAXIMUM_TRIES } from "../../../src/features/projects/variables/bulk-write.ts";
import { MAX_AGE_SECONDS } from "../../../src/http/cors.ts";
import { UNITS } from "../../../src/lib/database-units.ts";
import { ERRORS } from "../../../src/lib/errors.ts";
import { MAXIMUM_DAYS, RETENTION } from "../../../src/lib/retention.ts";
import { MINIMUM_CHARACTERS } from "../../../src/lib/settings.ts";
import { PERIOD_SECONDS } from "../../../src/rate-limits/client-address-limiter.ts";
import { RESERVED_SHARE } from "../../../src/rate-limits/organization-window.ts";
import {
  CALL_TIMEOUT_MS,
  FALLBACK_SHARE,
  POLICIES,
  WINDOW_MS,
} from "../../../src/rate-limits/policies.ts";
import { TOKEN_TTL_MS } from "../../../src/rate-limits/prefetched-tokens.ts";
import { ISOLATE_REPORTED_UNITS } from "../../../src/rate-limits/unreported-costs.ts";
import {
  AUDIT_MIB,
  constantOf,
  count,
  days,
  hours,
  kib,
  LOG_DAYS,
  LOG_GIB,
  limit,
  mib,
  minutes,
  nodeOf,
  ONCE_A_MINUTE,
  ORGANIZATION,
  SHARED,
  STEPS_OF_WALK,
  seconds,
  word,
} from "./documented-units.ts";

const REVOKE_WAIT_MS = constantOf("scripts/revoke-all.ts", "CACHED_MS");
const STATUSES = new Set(Object.values(ERRORS).map(({ status }) => status)).size;
const STARTUP_MS = constantOf("scripts/check.ts", "MAXIMUM_STARTUP_MS");
const SERVER_DRAIN = seconds(constantOf("packages/server/src/server.ts", "DRAIN_WITHIN_MS"));
const METRICS_CACHED = seconds(
  constantOf("src/features/deployments/metrics/service.ts", "CACHED_MS"),
);

/** Pages about how the service works, and how to operate it. */
export const OF_OPERATION: Record<string, readonly string[]> = {
  "docs/architecture.md": [`while ${limit("concurrentReads")} requests of its key are in progress`],
  "docs/configuration.md": [
    `as a bearer token of at least ${MINIMUM_CHARACTERS} characters`,
    `first API key, once. A random text of at least ${MINIMUM_CHARACTERS} characters`,
    `none is stored. A random text of at least ${MINIMUM_CHARACTERS} characters`,
    `\`LEASE_SECRET\` have at least ${MINIMUM_CHARACTERS} characters`,
    `${limit("addressRequests")} in ${PERIOD_SECONDS} s for each client address`,
    `1 to ${count(MAXIMUM_DAYS)}, normally ${RETENTION.deliveries.days}`,
    `audit log are kept, normally ${RETENTION.audit.days}`,
    `number of days from 1 to ${count(MAXIMUM_DAYS)}`,
    `remember the response for ${word(MAX_AGE_SECONDS / 3_600)} hours`,
  ],
  "docs/decisions.md": [
    `They have at most ${AUDIT_MIB} MiB`,
    `only from ${mib(limit("idempotencyTotalBytes"))} MiB`,
    `(${mib(limit("keptRulesBytes"))} MiB of an environment)`,
    `rules have ${kib(limit("rulesBytes"))} KiB and ${limit("rulePlaces")} environments`,
    `It reads at most ${limit("waitingPoolsRead")} pools`,
    `at least ${RETENTION.audit.minimumDays} days`,
    `have ${LOG_GIB} GiB a day`,
    `the ${LOG_DAYS} days of their retention`,
    `have at most ${kib(limit("outputBytesOfEnvironment"))} KiB together`,
    `its newest ${count(limit("redeployableDeployments"))} and holds at most ${count(limit("unfinishedDeployments"))} unfinished`,
    `at most ${limit("keyBoundaries")} IDs each, so that ${limit("pageItems")} keys fit on a page of ${mib(limit("pageBytes"))} MiB`,
    `at most ${count(limit("auditExportEntries"))} entries`,
    `${count(limit("trusts"))} trusts may have ${count(limit("trusts") * limit("liveKeysOfTrust"))} keys`,
    `At most ${100 * RESERVED_SHARE} % of the window is prefetched, so that nothing is rejected below ${SHARED} times`,
    `an isolate admits a ${FALLBACK_SHARE === 1 / 4 ? "quarter" : FALLBACK_SHARE} of the limit by itself`,
    `takes over ${CALL_TIMEOUT_MS} ms, with the ID`,
    `after ${word(MAXIMUM_TRIES)} tries it is a`,
    `Only the ${word(STATUSES)} statuses of the API`,
    `gets at most ${word(UNPROVEN_REQUESTS)} requests at once`,
    `the delivery waits ${seconds(UNKNOWN_WAIT_MS)} s`,
    `of its ${limit("hostRequests")} requests a second`,
    `kept for ${word(KEPT_MS / 1_000)} seconds`,
    `While ${limit("concurrentReads")} requests of a key`,
    `at most ${limit("concurrentReads")} reads more`,
    `At most ${word(limit("sessionWindowsOfKey"))} sessions of one key have a window of their own within ${seconds(WINDOW_MS)} s`,
    `would add ${POLICIES.console.limit} requests to a key`,
    `wait for their turn for up to ${seconds(limit("paceWaitMs"))} s`,
    `A cost below ${count(ISOLATE_REPORTED_UNITS)} units waits`,
    `would add ${POLICIES.reveal.limit} reads`,
    `takes at most ${seconds(CACHE_TTL_MS)} s`,
    `recorded ${ONCE_A_MINUTE} for each credential`,
    `its first ${limit("changelogEventEntries")} entries: a bulk write of ${limit("writtenVariables")} variables`,
    `${count(limit("writtenVariables") * limit("integrationsPerProject"))} deliveries to ${limit("integrationsPerProject")} integrations`,
    `fewer than ${word(PART_LENGTH)} characters`,
    `has failed for ${word(limit("failingMs") / 86_400_000)} days`,
    `while one takes over ${SLOW_MS} ms`,
    `tries ${word(MAXIMUM_REBASES)} times to rebase`,
    `writes at most ${limit("writtenVariables")} variables`,
    `may have ${MAXIMUM_BUNDLE_KB} KB after gzip, and the start-up ${STARTUP_MS} ms`,
  ],
  "docs/deploy.md": [
    `| \`BOOTSTRAP_TOKEN\` | For the first deployment; a random text of at least ${MINIMUM_CHARACTERS} characters`,
    `| \`LEASE_SECRET\` | For the first deployment; a random text of at least ${MINIMUM_CHARACTERS} characters`,
    `it waits ${seconds(REPLACED_ISOLATES_END_MS)} seconds`,
  ],
  "docs/glossary.md": [
    `within the last ${seconds(WINDOW_MS)} s`,
    `may cause in any ${seconds(WINDOW_MS)} s`,
    `written is charged as ${UNITS.rowWritten}`,
    `for at most ${seconds(CACHE_TTL_MS)} s`,
    `valid for ${seconds(LEASE_TTL_MS)} s and renewed`,
    `needs it, for ${seconds(TOKEN_TTL_MS)} s`,
    `reserved for ${seconds(CLAIM_MS)} s`,
    `${seconds(LOST_AFTER_MS)} s after its last heartbeat: its runner`,
    `expires after ${seconds(OFFER_TTL_MS)} s`,
    `in requests per ${seconds(WINDOW_MS)} s`,
    `A test of ${STEPS_OF_WALK} random steps`,
    `within ${minutes(SIGN_IN_LINK_TTL_MS)} minutes`,
    `requests of the ${seconds(WINDOW_MS)} s before`,
    `${seconds(LEASE_TTL_MS)} s after its last heartbeat: it cannot`,
  ],
  "docs/self-hosting.md": [
    `With Node ${nodeOf("packages/server")} or newer`,
    `a machine with Node ${nodeOf("packages/server")} or newer`,
    `lets requests finish for ${SERVER_DRAIN} seconds`,
  ],
  "docs/operations.md": [
    `at most ${METRICS_CACHED} seconds old`,
    `accept it for up to ${seconds(CACHE_TTL_MS)} s`,
    `up to ${count(limit("invalidatedCredentials"))} in total`,
    `stay for ${minutes(limit("purgeSettlesMs"))} minutes`,
    `at most ${limit("ownedOrganizations")} in that time`,
    `for ${minutes(limit("purgeSettlesMs"))} more minutes`,
    `at most ${limit("purgeRows")} rows`,
    `at least ${RETENTION.audit.minimumDays} days`,
    `waits ${word(PAUSES_PER_BATCH)} times as long`,
    `a ${PARTS === 4 ? "quarter" : PARTS} for deleted organizations`,
    `at most ${seconds(limit("purgeMs"))} s and ${limit("purgeBatches")} batches`,
    `keep a key for at most ${seconds(CACHE_TTL_MS)} s`,
    `waits for ${seconds(REVOKE_WAIT_MS)} s`,
  ],
  "docs/capacity.md": [
    `characters that a statement returns as ${UNITS.kilobyteReturned}`,
    `that it takes as ${UNITS.kilobyteSent}`,
    `${count(limit("databaseUnits"))} units in ${seconds(WINDOW_MS)} s`,
    `a burst of ${count(limit("burstUnits"))} units`,
    `waits for up to ${seconds(limit("paceWaitMs"))} s`,
    `the last ${RETENTION.audit.minimumDays} days`,
    `at most ${limit("purgeRows")} rows in a batch`,
    count(limit("purgeRows") * limit("purgeBatches")),
    count((limit("purgeRows") * limit("purgeBatches")) / PARTS),
    `has ${word(limit("deliveryConnections"))} requests open at the same time`,
    `takes two requests for ${seconds(limit("deliveryTimeoutMs"))} s`,
    `allow ${ORGANIZATION} times those of one key`,
    `sends a heartbeat every ${seconds(HEARTBEAT_INTERVAL_MS)} s`,
    `in the ${RETENTION.deliveries.days} days of \`RETAIN_DELIVERIES_DAYS\``,
    `the newest ${count(limit("redeployableDeployments"))} of an environment also their configuration, at most ${kib(limit("configurationBytes"))} KiB each`,
    `${limit("storedBytes") / 1_024 ** 3} GiB of stored data`,
    `${mib(limit("historyBytes"))} MiB of history`,
    `at most ${LOG_GIB} GiB a day, and are kept for ${LOG_DAYS} days: ${LOG_GIB * LOG_DAYS} GiB`,
    `up to ${constantOf("wrangler.toml", "max_concurrency")} at the same time (\`max_concurrency\`)`,
  ],
  "docs/performance.md": [
    `| at most ${MAXIMUM_BUNDLE_KB} | 200`,
    `its limit of ${POLICIES.default.limit} in a minute`,
    `may read ${POLICIES.polling.limit} pages in a minute`,
  ],
  "docs/security.md": [
    `at most ${count(limit("auditEntriesOfDay"))}, and ${AUDIT_MIB} MiB, a day`,
    `at most ${count(limit("auditEntriesOfDay"))} entries and ${AUDIT_MIB} MiB a day`,
    `reads at most ${mib(MAXIMUM_REPORT_BYTES)} MiB of it`,
    `the values of \`--pass-env\`, from ${MINIMUM_SECRET_LENGTH} characters on`,
    `inserts at most ${limit("runnersOfPool")} rows of a pool`,
    `${LOG_GIB} GiB a day for the logs`,
    `Beyond ${count(limit("invalidatedCredentials"))} keys and tokens, those of CI jobs may work for ${seconds(CACHE_TTL_MS)} s more`,
    `${seconds(limit("deliveryTimeoutMs"))} s for a request, ${kib(limit("responseReadBytes"))} KiB of a response`,
    `a check every ${seconds(CHECK_EVERY_MS)} s`,
    `no redirects, ${seconds(limit("issuerTimeoutMs"))} s, ${kib(limit("issuerResponseBytes"))} KiB`,
    `an unknown \`kid\` once in ${seconds(RELOAD_INTERVAL_MS)} s`,
    `for ${days(INVITATION_TTL_MS)} days, and only while`,
    `after ${hours(SESSION_IDLE_MS)} hours without use or ${days(SESSION_TTL_MS)} days`,
    `accepts it for up to ${seconds(CACHE_TTL_MS)} s`,
    `within ${minutes(SIGN_IN_LINK_TTL_MS)} minutes`,
    `valid for ${word(STATE_TTL_MS / 60_000)} minutes`,
    `${ONCE_A_MINUTE} for each credential`,
  ],
};

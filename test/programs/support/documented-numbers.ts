import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT_OPTIONS } from "../../../packages/executors/cloudformation/src/client-options.ts";
import { MAXIMUM_TEMPLATE_BYTES } from "../../../packages/executors/cloudformation/src/stack-request.ts";
import { UNCHANGED_MS } from "../../../packages/executors/kubernetes/src/settled.ts";
import { UPLOAD_AFTER_END_MS } from "../../../packages/runner/src/attempt-log.ts";
import { DRAIN_MS } from "../../../packages/runner/src/command.ts";
import { MINIMUM_SECRET_LENGTH } from "../../../packages/runner/src/environment.ts";
import { MAXIMUM_SETTINGS_BYTES } from "../../../packages/runner/src/executors/resolve-settings.ts";
import {
  MAXIMUM_DEPTH,
  MAXIMUM_NAMES,
  MAXIMUM_TEXT_BYTES,
  MAXIMUM_TEXTS,
} from "../../../packages/runner/src/executors/settings.ts";
import {
  DEFAULT_GRACE_SECONDS,
  MAXIMUM_GRACE_SECONDS,
} from "../../../packages/runner/src/options.ts";
import {
  MAXIMUM_LINE_BYTES,
  MAXIMUM_REPORT_BYTES,
} from "../../../packages/runner/src/report-file.ts";
import { EXIT_WITHIN_MS, SAME_SIGNAL_MS } from "../../../packages/runner/src/runner.ts";
import { MINIMUM_LENGTH, MINIMUM_LINE_LENGTH } from "../../../packages/runner/src/secret-forms.ts";
import {
  MAXIMUM_IGNORED_LINES,
  REPORT_EVERY_MS,
} from "../../../packages/runner/src/stack-reporter.ts";
import { MAXIMUM_WAITING_BYTES } from "../../../packages/runner/src/terminal-output.ts";
import { ENDING_MS, MAXIMUM_PENDING } from "../../../packages/runner/src/uploads.ts";
import { MAXIMUM_BUNDLE_KB } from "../../../scripts/lib/bundle-gate.ts";
import { ROOT } from "../../../scripts/lib/wrangler.ts";
import { CACHE_TTL_MS } from "../../../src/auth/credential-cache.ts";
import {
  CANCEL_TIMEOUT_MS,
  HEARTBEAT_INTERVAL_MS,
  LEASE_TTL_MS,
  LOG_INTERVAL_MS,
  LOST_AFTER_MS,
  MAXIMUM_LAPSED_OFFERS,
  MAXIMUM_RELEASED_OFFERS,
  OFFER_TTL_MS,
} from "../../../src/features/deployments/deployments/lifecycle.ts";
import { CHECK_EVERY_MS } from "../../../src/features/deployments/logs/follow.ts";
import { MS_PER_FOLLOWER } from "../../../src/features/deployments/logs/paced-sender.ts";
import { LEAST_BYTES, MOST_BYTES } from "../../../src/features/deployments/logs/reservation.ts";
import { MAXIMUM_REBASES } from "../../../src/features/deployments/runner-api/start.ts";
import { REFUSAL_INTERVAL_MS } from "../../../src/features/housekeeping/audit/store.ts";
import { REPLACED_ISOLATES_END_MS } from "../../../src/features/housekeeping/key-rotation/rotation.ts";
import { PARTS, PAUSES_PER_BATCH } from "../../../src/features/housekeeping/purge/run.ts";
import { INVITATION_TTL_MS } from "../../../src/features/identity/invitations/model.ts";
import { SIGN_IN_TTL_MS } from "../../../src/features/identity/open-id-connect/model.ts";
import { METADATA_TTL_MS } from "../../../src/features/identity/open-id-connect/provider.ts";
import {
  SESSION_IDLE_MS,
  SESSION_TTL_MS,
  SIGN_IN_LINK_TTL_MS,
  USE_INTERVAL_MS,
} from "../../../src/features/identity/sessions/model.ts";
import {
  KEYS_TTL_MS,
  RELOAD_INTERVAL_MS,
  STALE_TTL_MS,
} from "../../../src/features/identity/trusts/issuer-keys.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  DEFAULT_TTL_SECONDS,
} from "../../../src/features/identity/trusts/model.ts";
import { CLAIM_MS } from "../../../src/features/notifications/delivery/claim.ts";
import {
  SLOW_MS,
  UNPROVEN_REQUESTS,
} from "../../../src/features/notifications/delivery/endpoints.ts";
import { KEPT_MS } from "../../../src/features/notifications/delivery/host-window.ts";
import { UNKNOWN_WAIT_MS } from "../../../src/features/notifications/delivery/hosts.ts";
import { LONG_PAUSE_MS } from "../../../src/features/notifications/delivery/owner-notifications.ts";
import { PART_LENGTH } from "../../../src/features/notifications/delivery/redact-target.ts";
import {
  JITTER,
  MAX_PAUSE_MS,
  RETRY_DELAYS_MS,
} from "../../../src/features/notifications/delivery/retry-schedule.ts";
import { SLACK_INTERVAL_MS } from "../../../src/features/notifications/delivery/turns.ts";
import { SECRET_OVERLAP_MS } from "../../../src/features/notifications/integrations/secret.ts";
import { MAXIMUM_URLS, URL_LENGTH } from "../../../src/features/notifications/slack/message.ts";
import { STATE_TTL_MS } from "../../../src/features/notifications/slack/state.ts";
import { MAXIMUM_TRIES } from "../../../src/features/projects/variables/bulk-write.ts";
import { DEFAULT_RUN_SECONDS } from "../../../src/features/tenancy/model.ts";
import { MAX_AGE_SECONDS } from "../../../src/http/cors.ts";
import { UNITS } from "../../../src/lib/database-units.ts";
import { ERRORS } from "../../../src/lib/errors.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { MAXIMUM_DAYS, RETENTION } from "../../../src/lib/retention.ts";
import { MINIMUM_CHARACTERS } from "../../../src/lib/settings.ts";
import { PORTS } from "../../../src/lib/target-url.ts";
import { PERIOD_SECONDS } from "../../../src/rate-limits/client-address-limiter.ts";
import { RESERVED_SHARE } from "../../../src/rate-limits/organization-window.ts";
import {
  CALL_TIMEOUT_MS,
  FALLBACK_SHARE,
  POLICIES,
  WINDOW_MS,
} from "../../../src/rate-limits/policies.ts";
import { TOKEN_TTL_MS } from "../../../src/rate-limits/prefetched-tokens.ts";
import { FIFTHS, SHARED_FIFTHS } from "../../../src/rate-limits/shared-use.ts";
import { ISOLATE_REPORTED_UNITS } from "../../../src/rate-limits/unreported-costs.ts";
import { readEffort } from "../../effort.ts";

const limit = (name: keyof typeof LIMITS) => LIMITS[name].value;
const count = (value: number) => value.toLocaleString("en-US");
const seconds = (ms: number) => count(ms / 1_000);
const minutes = (ms: number) => count(ms / 60_000);
const hours = (ms: number) => count(ms / 3_600_000);
const days = (ms: number) => count(ms / 86_400_000);
const kib = (bytes: number) => count(bytes / 1_024);
const mib = (bytes: number) => count(bytes / 1_024 ** 2);
const LOG_GIB = limit("logBytesOfDay") / 1_024 ** 3;
const LOG_DAYS = limit("logRetentionMs") / 86_400_000;

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const word = (value: number) => WORDS[value] ?? (value === 100 ? "a hundred" : count(value));
const ORDINALS = [
  ...["", "first", "second", "third", "fourth", "fifth"],
  ...["sixth", "seventh", "eighth", "ninth", "tenth"],
];
const ordinal = (value: number) => ORDINALS[value] ?? `${value}th`;

/** As in the retry schedule: `5 s, 5 min, 2 h`. */
function duration(ms: number): string {
  if (ms < 60_000) return `${seconds(ms)} s`;
  return ms < 3_600_000 ? `${minutes(ms)} min` : `${hours(ms)} h`;
}

const delays = RETRY_DELAYS_MS.map(duration);
const RETRIES = `${delays.slice(0, -1).join(", ")} and ${delays.at(-1)}`;
const ORGANIZATION = limit("organizationRequests");
const SHARED = (ORGANIZATION * SHARED_FIFTHS) / FIFTHS;
const OF_CONSUMER = ORGANIZATION / FIFTHS;
const ONCE_A_MINUTE = `once ${REFUSAL_INTERVAL_MS === 60_000 ? "a minute" : duration(REFUSAL_INTERVAL_MS)}`;
const RUNNER_LOST = `${word(LOST_AFTER_MS / 60_000)} to ${word(LOST_AFTER_MS / 60_000 + 1)} minutes`;

/** Of a program, which runs when it is imported, or of the browser's code. */
function constantOf(file: string, name: string): number {
  const source = readFileSync(join(ROOT, file), "utf8");
  const [, value] =
    new RegExp(`(?<!\\w)${name.replace(".", "\\.")}"? ?[=:] ([\\d_]+)\\b`).exec(source) ?? [];
  if (value === undefined) throw new Error(`${file} has no number ${name}`);
  return Number(value.replaceAll("_", ""));
}

function nodeOf(folder: string): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  return engines.node.replace(">=", "");
}

const CONSOLE_SCRIPT_KB = constantOf("scripts/check.ts", ".js");
const CONSOLE_STYLE_KB = constantOf("scripts/check.ts", ".css");
const REVOKE_WAIT_MS = constantOf("scripts/revoke-all.ts", "CACHED_MS");
const STEPS_OF_WALK = constantOf("test/walk/random-walk.ts", "STEPS");
const STATUSES = new Set(Object.values(ERRORS).map(({ status }) => status)).size;
const STARTUP_MS = constantOf("scripts/check.ts", "MAXIMUM_STARTUP_MS");
const POLL_MS = constantOf("packages/console/src/query.ts", "POLL_MS");
const LIVE_POLL_MS = constantOf("packages/console/src/query.ts", "LIVE_POLL_MS");
const SERVER_DRAIN = seconds(constantOf("packages/server/src/server.ts", "DRAIN_WITHIN_MS"));
const METRICS_CACHED = seconds(
  constantOf("src/features/deployments/metrics/service.ts", "CACHED_MS"),
);
const AUDIT_MIB = mib(limit("auditBytesOfDay"));
const ofClient = (name: string) => count(constantOf("packages/client/src/client.ts", name));

/**
 * What pages say with numbers that the code has in a table or a constant: parts of sentences, as they have to be. A
 * page has no other quantity, except those in `OTHER_NUMBERS`.
 */
export const NUMBERS: Record<string, readonly string[]> = {
  "README.md": [
    `In any ${seconds(WINDOW_MS)} seconds, a key gets exactly its ${POLICIES.default.limit} requests`,
    `[Node.js](https://nodejs.org) ${nodeOf(".")} or newer`,
  ],
  "CONTRIBUTING.md": [
    `Node.js ${nodeOf(".")} or newer`,
    `a file above ${constantOf("scripts/check.ts", "LINES_FOR_REVIEW")} lines`,
  ],
  "docs/api.md": [
    `For one key, in any ${seconds(WINDOW_MS)} s`,
    `does not happen below ${SHARED} times the limit of one key`,
    `have used ${OF_CONSUMER} times the limit`,
    `until it is full at ${ORGANIZATION} times`,
    `gets ${SHARED} to 18 times the limit`,
    `has a budget of it for each ${seconds(WINDOW_MS)} s`,
    `and ${AUDIT_MIB} MiB of them, a day`,
    `limited to ${limit("addressRequests")} in ${PERIOD_SECONDS} s for each client address`,
  ],
  "docs/api-keys.md": [
    `up to ${limit("keyOverlap") / 3_600} h of overlap`,
    `${ONCE_A_MINUTE} for each credential`,
  ],
  "docs/architecture.md": [`while ${limit("concurrentReads")} requests of its key are in progress`],
  "docs/audit-log.md": [
    `written ${ONCE_A_MINUTE} for each credential`,
    `at most ${count(limit("auditEntriesOfDay"))} entries, and ${AUDIT_MIB} MiB of them`,
    `cut at ${limit("userAgentLength")} characters`,
  ],
  "docs/ci.md": [
    `RS256) or P-256`,
    `at most ${limit("issuerKeys")}, of RSA`,
    `${limit("minimumKeySeconds")} to ${count(limit("maximumKeySeconds"))}, and ${DEFAULT_TTL_SECONDS} by default`,
    `up to ${kib(limit("exchangedTokenBytes"))} KiB, that expires within ${limit("exchangedTokenSeconds") / 3_600} hours`,
    `clocks may differ by ${CLOCK_TOLERANCE_SECONDS === 60 ? "a minute" : `${CLOCK_TOLERANCE_SECONDS} s`}`,
    `at most ${count(limit("liveKeysOfTrust"))} of a trust are valid at once`,
    `cached for ${word(KEYS_TTL_MS / 60_000)} minutes, and for ${word(STALE_TTL_MS / 60_000)} minute more`,
    `one request in ${seconds(RELOAD_INTERVAL_MS)} seconds`,
    `Node ${nodeOf("packages/cli")} or newer`,
    `\`ttl_seconds\` (at most ${count(limit("maximumKeySeconds"))})`,
  ],
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
  "docs/deploy-with/kubernetes.md": [
    `Node.js ${nodeOf(".")} or newer`,
    `does not change for ${seconds(UNCHANGED_MS)} seconds`,
  ],
  "docs/deploy-with/script.md": [`Node.js ${nodeOf(".")} or newer`],
  "docs/deploy-with/terraform.md": [
    `Node.js ${nodeOf(".")} or newer`,
    `has ${MAXIMUM_GRACE_SECONDS} seconds to end what it has begun`,
    `it is ${DEFAULT_GRACE_SECONDS} seconds by default, and ${MAXIMUM_GRACE_SECONDS} at most`,
  ],
  "docs/first-deployment.md": [`[Node.js](https://nodejs.org) ${nodeOf(".")} or newer`],
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
  "docs/cli.md": [`Node ${nodeOf("packages/cli")} or newer`],
  "docs/console.md": [
    `at most ${CONSOLE_SCRIPT_KB} KB of script and ${CONSOLE_STYLE_KB} KB of style`,
    `every ${seconds(POLL_MS)} seconds, and every ${seconds(LIVE_POLL_MS)} while`,
    `of the ${POLICIES.console.limit} of its session`,
  ],
  "docs/logs.md": [
    `for as long as the deployment runs and for ${days(limit("logRetentionMs"))} days`,
    `after ${kib(limit("logLineBytes"))} KiB, and where`,
    `at most ${count(limit("logPageLines"))} lines and ${kib(limit("logPageBytes"))} KiB`,
    `over ${mib(limit("logBytes"))} MiB`,
    `the log has ${mib(limit("logBytes"))} MiB`,
    `keep ${LOG_GIB} GiB on each day`,
    `the first ${kib(LEAST_BYTES)} KiB, then as many as it has, and at most ${mib(MOST_BYTES)} MiB at once`,
    `take ${kib(LEAST_BYTES)} KiB of the day each, which are ${count(limit("logBytesOfDay") / LEAST_BYTES)} logs`,
    `more than ${days(limit("logRetentionMs"))} days ago`,
    `ends after ${minutes(limit("logStreamMs"))} minutes`,
    `is checked every ${seconds(CHECK_EVERY_MS)} seconds`,
    `\`log_every_seconds\` | ${seconds(LOG_INTERVAL_MS)} |`,
    `\`log_chunk_bytes\` | ${count(limit("logChunkBytes"))} |`,
    `\`log_bytes\` | ${count(limit("logBytes"))} |`,
    `${count(POLICIES.runner.limit)} in any ${seconds(WINDOW_MS)} seconds`,
    `bytes for ${word(limit("logSealsMs") / 60_000)} more minutes`,
    `variables of ${MINIMUM_LENGTH} characters or more`,
    `those of \`--pass-env\` of ${MINIMUM_SECRET_LENGTH} or more`,
    `kept for ${days(limit("logRetentionMs"))} days`,
    `A log of ${mib(limit("logBytes"))} MiB`,
    `of the key every ${seconds(CHECK_EVERY_MS)} seconds`,
    `one notification in ${MS_PER_FOLLOWER} ms`,
    `ends the log ${word(limit("logSealsMs") / 60_000)} minutes after the end of the deployment, and deletes it after ${days(limit("logRetentionMs"))} days`,
  ],
  "docs/notifications.md": [
    `the first ${limit("changelogEventEntries")} changes`,
    `before all others, up to ${kib(limit("deploymentEventOutputBytes"))} KiB`,
    `cut to ${limit("changelogEventName")} characters`,
    `up to ${limit("integrationFilters")} IDs`,
    `For ${hours(SECRET_OVERLAP_MS)} hours, both secrets`,
    `2xx within ${seconds(limit("deliveryTimeoutMs"))} s`,
    `otherwise for up to ${MAX_PAUSE_MS === 60_000 ? "a minute" : duration(MAX_PAUSE_MS)}`,
    `no response within ${seconds(limit("deliveryTimeoutMs"))} s`,
    `\`timed out after ${seconds(limit("deliveryTimeoutMs"))} s\``,
    `is retried after ${RETRIES}, each with ±${100 * JITTER} % jitter`,
    `up to ${hours(limit("retryAfterMs"))} h. If the ${ordinal(RETRY_DELAYS_MS.length + 1)} attempt fails`,
    `After ${word(limit("failingMs") / 86_400_000)} days in which every attempt failed`,
    `was claimed ${word(limit("deliveryClaims"))} times`,
    `at most ${limit("hostRequests")} requests a second`,
    `within the last ${limit("hostSuccessMs") === 3_600_000 ? "hour" : duration(limit("hostSuccessMs"))}`,
    `up to ${count(limit("resumedDeliveries"))} for each request`,
    `at most ${days(limit("recoveryMs"))} days ago`,
    `up to ${count(limit("recoveredDeliveries"))} failed deliveries a minute`,
    `pauses for more than ${LONG_PAUSE_MS === 3_600_000 ? "an hour" : duration(LONG_PAUSE_MS)}`,
    `at most one in ${hours(limit("ownerNotificationMs"))} hours`,
    `one \`paused\` entry in ${hours(limit("ownerNotificationMs"))} hours`,
    `parts of ${word(PART_LENGTH)} or more characters`,
    `the ports ${PORTS.filter(Boolean).join(" and ")}`,
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
  "docs/people.md": [
    `valid for ${days(INVITATION_TTL_MS)} days`,
    `within ${hours(limit("idempotencyMs"))} hours`,
    `within ${seconds(CACHE_TTL_MS)} seconds`,
    `For ${minutes(limit("purgeSettlesMs"))} more minutes`,
    `${ONCE_A_MINUTE} for each credential`,
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
  "docs/deploy-with/cloudformation.md": [
    `of at most ${count(MAXIMUM_TEMPLATE_BYTES)} bytes`,
    `repeats each request up to ${word(CLIENT_OPTIONS.maxAttempts - 1)} times`,
  ],
  "docs/executors.md": [
    `values of at most ${count(limit("outputBytes"))} bytes`,
    `a text has at most ${count(MAXIMUM_TEXT_BYTES)} bytes and no control characters`,
    `a list has at most ${MAXIMUM_TEXTS} texts`,
    `an object at most ${MAXIMUM_NAMES} members, ${MAXIMUM_DEPTH} levels deep`,
    `All settings of a stack have at most ${mib(MAXIMUM_SETTINGS_BYTES)} MiB`,
    `beyond ${mib(MAXIMUM_REPORT_BYTES)} MiB or ${mib(MAXIMUM_LINE_BYTES)} MiB in one line`,
    `after ${MAXIMUM_IGNORED_LINES} of them`,
    `at most ${limit("stackOutputs")}, with names of 1 to ${limit("outputNameLength")} letters`,
    `A stack has at most ${limit("reportedResources")} that are not deleted`,
    `at most ${REPORT_EVERY_MS === 1_000 ? "once a second" : duration(REPORT_EVERY_MS)}`,
  ],
  "docs/runners.md": [
    `in the last ${minutes(limit("runnerOnlineMs"))} minutes or have a deployment now`,
    `A pool keeps the ${limit("runnersOfPool")} runners that asked last`,
    `has not asked with the old token for ${minutes(limit("runnerOnlineMs"))} minutes`,
    `Node ${nodeOf("packages/runner")} or newer`,
    `with Node ${nodeOf(".")} or newer`,
    `${MAXIMUM_GRACE_SECONDS} at most`,
    `it may have ${kib(limit("patchBytes"))} KiB`,
    `variables of ${MINIMUM_LENGTH} characters or more`,
    `several lines from ${MINIMUM_LINE_LENGTH} characters on`,
    `those of \`--pass-env\` of ${MINIMUM_SECRET_LENGTH} characters or more`,
    `at most ${word(DRAIN_MS / 1_000)} second`,
    `at most ${word(UPLOAD_AFTER_END_MS / 60_000)} minutes`,
    `more than ${word(MAXIMUM_PENDING)} logs`,
    `at most ${seconds(ENDING_MS)} seconds`,
    `exceeds ${mib(MAXIMUM_WAITING_BYTES)} MiB there`,
    `the rest after ${seconds(EXIT_WITHIN_MS)} seconds`,
    `at least ${SAME_SIGNAL_MS === 1_000 ? "a second" : duration(SAME_SIGNAL_MS)} after the first`,
    `\`runner_lost\` ${RUNNER_LOST} after the last heartbeat`,
    `\`overlap_seconds\` (0 to ${count(limit("tokenOverlapSeconds"))})`,
    `${count(POLICIES.runner.limit)} calls in any ${seconds(WINDOW_MS)} seconds`,
    `${limit("minimumRunSeconds")} seconds to ${limit("maximumRunSeconds") / 86_400} days, and ${DEFAULT_RUN_SECONDS / 3_600} hours (${DEFAULT_RUN_SECONDS})`,
    `the runner has ${seconds(CANCEL_TIMEOUT_MS)} seconds to complete`,
  ],
  "docs/safe-writes.md": [
    `From ${mib(limit("idempotencyTotalBytes"))} MiB`,
    `1 to ${limit("idempotencyKeyLength")} visible ASCII characters`,
    `kept for ${hours(limit("idempotencyMs"))} hours, and up to ${mib(limit("idempotencyCredentialBytes"))} MiB of one API key or session`,
    `exceed ${mib(limit("idempotencyBytes"))} MiB`,
    `the newest ${kib(limit("idempotencyReservedBytes"))} KiB stay`,
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
  "docs/sign-in.md": [
    `is valid for ${minutes(SIGN_IN_LINK_TTL_MS)} minutes`,
    `at most ${limit("signInLinksOfKey")} unused ones`,
    `for ${minutes(SIGN_IN_TTL_MS)} minutes after the callback`,
    `of the browser for ${minutes(SIGN_IN_TTL_MS)} minutes`,
    `ends after ${seconds(limit("issuerTimeoutMs"))} seconds and ${kib(limit("issuerResponseBytes"))} KiB`,
    `metadata is kept for ${minutes(METADATA_TTL_MS)} minutes`,
    `${hours(SESSION_IDLE_MS)} hours after its last use, which is noted to ${minutes(USE_INTERVAL_MS)} minutes; after ${days(SESSION_TTL_MS)} days`,
    `has at most ${limit("sessionsOfMembership")}`,
    `${POLICIES.console.limit} requests in any ${seconds(WINDOW_MS)} seconds`,
    `more than ${word(limit("sessionWindowsOfKey"))} sessions of one key are used within ${seconds(WINDOW_MS)} seconds`,
  ],
  "docs/slack.md": [
    `within ${word(STATE_TTL_MS / 60_000)} minutes`,
    `within ${hours(limit("slackConfirmationMs"))} hours (\`confirm_by\`)`,
    `up to ${limit("deploymentEventStacks")} stacks`,
    `and the first ${word(MAXIMUM_URLS)} URLs`,
    `its link has at most ${URL_LENGTH} characters`,
    `at most ${SLACK_INTERVAL_MS === 1_000 ? "one message per second" : duration(SLACK_INTERVAL_MS)}`,
  ],
  "docs/state-machine.md": [
    `takes ${readEffort("").walks.least} of them, and \`.ci/run\` at least ${readEffort("full").walks.least};`,
    `determines each walk of ${STEPS_OF_WALK} steps`,
    `when its ${ordinal(MAXIMUM_LAPSED_OFFERS)} offer lapses or its ${ordinal(MAXIMUM_RELEASED_OFFERS)} is released, and not before`,
    `exactly after ${word(MAXIMUM_LAPSED_OFFERS)} lapsed or ${MAXIMUM_RELEASED_OFFERS} released offers`,
    `in the last ${minutes(limit("runnerOnlineMs"))} minutes or executes a deployment`,
    `it names the ${limit("waitingPools")} that asked last, among the ${limit("waitingPoolsRead")} that have included`,
    `Start within ${seconds(OFFER_TTL_MS)} s`,
    `The ${ordinal(MAXIMUM_LAPSED_OFFERS)} offer lapses`,
    `${seconds(CANCEL_TIMEOUT_MS)} s have passed, or the runner is lost`,
    `No heartbeat for ${seconds(LOST_AFTER_MS)} s`,
    `${seconds(OFFER_TTL_MS)} s have passed: the offer lapses`,
    `ends ${seconds(LOST_AFTER_MS)} s after its start`,
    `ends after ${seconds(LEASE_TTL_MS)} s without a heartbeat`,
  ],
  "docs/tour.md": [`within ${seconds(HEARTBEAT_INTERVAL_MS)} seconds`, `${RUNNER_LOST} after`],
  "docs/variables.md": [
    `at most ${kib(limit("variableValueBytes"))} KiB`,
    `up to ${limit("writtenVariables")} variables`,
    `the newest ${count(limit("variablesOfEnvironment"))} entries of the project's changelog`,
  ],
  "docs/write-a-runner.md": [
    `\`resources\`**, up to ${limit("reportedResources")}, is`,
    `stay for ${days(limit("deletedResourceMs"))} days, the newest ${limit("deletedResources")} of a stack`,
    `instead of after ${RUNNER_LOST}`,
    `\`start_within_seconds\` | ${seconds(OFFER_TTL_MS)} |`,
    `When its ${ordinal(MAXIMUM_LAPSED_OFFERS)} offer expires`,
    `when the ${ordinal(MAXIMUM_RELEASED_OFFERS)} is released`,
    `\`heartbeat_every_seconds\` | ${seconds(HEARTBEAT_INTERVAL_MS)} |`,
    `\`log_every_seconds\` | ${seconds(LOG_INTERVAL_MS)} |`,
    `\`lease_seconds\` | ${seconds(LEASE_TTL_MS)} |`,
    `After that | ${seconds(LOST_AFTER_MS - LEASE_TTL_MS)} |`,
    `After a cancel | ${seconds(CANCEL_TIMEOUT_MS)} |`,
    `At most ${seconds(CANCEL_TIMEOUT_MS)} seconds later`,
    `within ${seconds(CANCEL_TIMEOUT_MS)} seconds of its last successful heartbeat`,
  ],
  "packages/cli/README.md": [`Node ${nodeOf("packages/cli")} and newer`],
  "packages/client/README.md": [
    `Node ${nodeOf("packages/client")} or newer`,
    `\`timeoutMs\` | ${ofClient("TIMEOUT_MS")} |`,
    `\`totalTimeoutMs\` | ${ofClient("TOTAL_TIMEOUT_MS")} |`,
    `\`retries\` | ${ofClient("RETRIES")} |`,
    `\`idleTimeoutMs\` (${ofClient("IDLE_TIMEOUT_MS")})`,
  ],
};

/** Quantities of other programs, and those that other tests or a measurement determine. */
export const OTHER_NUMBERS: Record<string, readonly string[]> = {
  "docs/api.md": ["are 22 characters of base58"],
  "docs/ci.md": ["7.5 seconds after SIGINT"],
  "docs/configuration.md": ["keys of 32 bytes", "keys have 32 bytes"],
  "docs/decisions.md": ["entries of 32 KiB filled", "could send 432 GB", "a log of 1 MB"],
  "docs/deploy.md": ["30 seconds for the requests", "30 seconds for the last write"],
  "docs/logs.md": [
    "1 MB in all",
    "| 1,200 ms (2 ms each, assumed) |",
    "| 1.17 MB for a month |",
    "20 ms for an append",
  ],
  "docs/notifications.md": ["in at most 32 KB"],
  "docs/self-hosting.md": [
    "Give it 30 seconds to stop",
    "| 64 ms, 216 ms | 56 ms, 232 ms | 135 ms, 341 ms |",
    "| 704 MB | 832 MB | 1272 MB |",
    "| below 0.5 %, 535 MB | 0.2 %, 645 MB | 0.6 %, 953 MB |",
    "| 1.4 s | 5.3 s | 4.5 s |",
    "| 73 %, 279 ms | 72 %, 188 ms | 115 %, 710 ms |",
    "With two cores and 1 GB of memory",
  ],
  "docs/operations.md": [
    "A lag of more than 60 seconds",
    "took 286 s of purging",
    "any minute of the last 30 days (7 on the free plan)",
  ],
  "docs/runners.md": ["an environment variable to 128 KiB", "kills a container after 10 seconds"],
};

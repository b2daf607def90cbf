import { CACHE_TTL_MS } from "../../../src/auth/credential-cache.ts";
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
import { PORTS } from "../../../src/lib/target-url.ts";
import { PERIOD_SECONDS } from "../../../src/rate-limits/client-address-limiter.ts";
import { POLICIES, WINDOW_MS } from "../../../src/rate-limits/policies.ts";
import { FIFTHS } from "../../../src/rate-limits/shared-use.ts";
import {
  AUDIT_MIB,
  constantOf,
  count,
  days,
  duration,
  hours,
  kib,
  limit,
  mib,
  minutes,
  nodeOf,
  ONCE_A_MINUTE,
  ORGANIZATION,
  ordinal,
  SHARED,
  seconds,
  word,
} from "./documented-units.ts";
import { OF_OPERATION } from "./operation-page-numbers.ts";
import { OF_RUNNERS } from "./runner-page-numbers.ts";

const delays = RETRY_DELAYS_MS.map(duration);
const RETRIES = `${delays.slice(0, -1).join(", ")} and ${delays.at(-1)}`;
const CONSUMER_SHARE = ORGANIZATION / FIFTHS;

const CONSOLE_SCRIPT_KB = constantOf("scripts/check.ts", ".js");
const CONSOLE_STYLE_KB = constantOf("scripts/check.ts", ".css");
const POLL_MS = constantOf("packages/console/src/query.ts", "POLL_MS");
const LIVE_POLL_MS = constantOf("packages/console/src/query.ts", "LIVE_POLL_MS");
const ofClient = (name: string) => count(constantOf("packages/client/src/client.ts", name));

/** Pages about the use of the API, by people and programs. */
const OF_USE: Record<string, readonly string[]> = {
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
    `have used ${CONSUMER_SHARE} times the limit`,
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
  "docs/cli.md": [`Node ${nodeOf("packages/cli")} or newer`],
  "docs/console.md": [
    `at most ${CONSOLE_SCRIPT_KB} KB of script and ${CONSOLE_STYLE_KB} KB of style`,
    `every ${seconds(POLL_MS)} seconds, and every ${seconds(LIVE_POLL_MS)} while`,
    `of the ${POLICIES.console.limit} of its session`,
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
  "docs/people.md": [
    `valid for ${days(INVITATION_TTL_MS)} days`,
    `within ${hours(limit("idempotencyMs"))} hours`,
    `within ${seconds(CACHE_TTL_MS)} seconds`,
    `For ${minutes(limit("purgeSettlesMs"))} more minutes`,
    `${ONCE_A_MINUTE} for each credential`,
  ],
  "docs/safe-writes.md": [
    `From ${mib(limit("idempotencyTotalBytes"))} MiB`,
    `1 to ${limit("idempotencyKeyLength")} visible ASCII characters`,
    `kept for ${hours(limit("idempotencyMs"))} hours, and up to ${mib(limit("idempotencyCredentialBytes"))} MiB of one API key or session`,
    `exceed ${mib(limit("idempotencyBytes"))} MiB`,
    `the newest ${kib(limit("idempotencyReservedBytes"))} KiB stay`,
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
  "docs/variables.md": [
    `at most ${kib(limit("variableValueBytes"))} KiB`,
    `up to ${limit("writtenVariables")} variables`,
    `the newest ${count(limit("variablesOfEnvironment"))} entries of the project's changelog`,
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

/**
 * What pages say with numbers that the code has in a table or a constant: parts of sentences, as they have to be. A
 * page has no other quantity, except those in `OTHER_NUMBERS`.
 */
export const NUMBERS: Record<string, readonly string[]> = {
  ...OF_RUNNERS,
  ...OF_OPERATION,
  ...OF_USE,
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

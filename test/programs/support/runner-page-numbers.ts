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
import { DEFAULT_RUN_SECONDS } from "../../../src/features/tenancy/model.ts";
import { POLICIES, WINDOW_MS } from "../../../src/rate-limits/policies.ts";
import { readEffort } from "../../effort.ts";
import {
  count,
  days,
  duration,
  kib,
  LOG_GIB,
  limit,
  mib,
  minutes,
  nodeOf,
  ordinal,
  RUNNER_LOST,
  STEPS_OF_WALK,
  seconds,
  word,
} from "./documented-units.ts";

/** Pages about runners, executors and what they run. */
export const OF_RUNNERS: Record<string, readonly string[]> = {
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
};

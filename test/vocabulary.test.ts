import { describe, expect, it } from "vitest";

const sources: Record<string, string> = import.meta.glob(
  [
    "../src/**/*.ts",
    "../packages/**/*.ts",
    "../bench/**/*.ts",
    "../scripts/**/*.ts",
    "./**/*.ts",
    "!./vocabulary.test.ts",
    // The text of docs/.
    "!../**/node_modules/**",
  ],
  { query: "?raw", import: "default", eager: true },
);

/** Without comments, where a replaced identifier may be an ordinary word. */
const code = Object.entries(sources).map(([path, text]) => ({
  file: path.replace(/^\.\.\//, "").replace(/^\.\//, "test/"),
  text: text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, ""),
}));

interface Replaced {
  old: string;
  instead: string;
}

const IDENTIFIERS: readonly Replaced[] = [
  // Deliveries
  { old: "Ring", instead: "DeliveryMessage" },
  { old: "ringFor", instead: "enqueueDeliveries" },
  { old: "not_rung", instead: "a standard term" },
  { old: "rescue", instead: "sweep" },
  { old: "takeOverdue", instead: "claimOverdue" },
  { old: "takeUpOverdue", instead: "claimOverdue" },
  { old: "buryDeadLetters", instead: "dead-letter handler" },
  { old: "bury", instead: "discard" },
  { old: "Candidate", instead: "ClaimedDelivery" },
  { old: "Setback", instead: "FailedAttempt" },
  { old: "fanOut", instead: "writeOutbox" },
  { old: "Notice", instead: "MessageHandle" },
  { old: "giveBack", instead: "nack" },
  { old: "putOff", instead: "retryAfter or defer" },
  { old: "putOffMs", instead: "retryAfterMs" },
  { old: "Patience", instead: "SlowEndpoints" },
  { old: "patience", instead: "slowEndpoints" },
  { old: "isWorthWaiting", instead: "shouldAwait" },
  { old: "verdict", instead: "next action" },
  { old: "Verdict", instead: "NextAction or RateLimitResult" },
  { old: "verdictOf", instead: "nextAction" },
  { old: "keepPace", instead: "throttle" },
  { old: "asksForRest", instead: "isThrottled" },
  { old: "KIND_OF", instead: "EVENTS[type].kind" },
  // Limits, authentication and requests
  { old: "verdictOn", instead: "resolveOutcome" },
  { old: "Plane", instead: "AuthScheme" },
  { old: "planes", instead: "schemes" },
  { old: "peoplePlane", instead: "apiKeyScheme" },
  { old: "runnerPlane", instead: "runnerTokenScheme" },
  { old: "Gate", instead: "Authenticator" },
  { old: "Surroundings", instead: "deps" },
  { old: "KeyRing", instead: "CredentialStore" },
  { old: "keyRing", instead: "apiKeyStore" },
  { old: "tokenRing", instead: "runnerTokenStore" },
  { old: "Principals", instead: "CredentialCache" },
  { old: "Strangers", instead: "ClientAddressLimiter" },
  { old: "strangers", instead: "clientAddressLimiter" },
  { old: "announceKeys", instead: "invalidateKeys" },
  { old: "#obey", instead: "#enforce" },
  { old: "Call", instead: "RequestContext" },
  { old: "Trace", instead: "RequestLog" },
  // Encryption
  { old: "Place", instead: "EncryptionContext" },
  { old: "placeOf", instead: "valueContext" },
  { old: "placeOfUrl", instead: "urlContext" },
  { old: "placeOfSecret", instead: "secretContext" },
  { old: "placeOfValue", instead: "valueContext" },
  { old: "placeBytes", instead: "contextBytes" },
  { old: "SealBroken", instead: "DecryptionError" },
  // Runner API and deployments
  { old: "desire", instead: "directive" },
  { old: "Desire", instead: "Directive" },
  { old: "DESIRES", instead: "DIRECTIVES" },
  { old: "DESIRED", instead: "DIRECTIVE_HEADER" },
  { old: "desiredOf", instead: "directiveFor" },
  { old: "desiredAfter", instead: "directiveAfter" },
  { old: "tellDesired", instead: "withDirective" },
  { old: "HoldRow", instead: "LeaseRow" },
  { old: "findHold", instead: "findLease" },
  { old: "isHeld", instead: "isLeaseHeld" },
  { old: "requireHeld", instead: "requireLeaseHeld" },
  { old: "takeReport", instead: "applyReport" },
  { old: "takeResources", instead: "applyResources" },
  { old: "UNFINISHED", instead: "ACTIVE_STATUSES" },
  { old: "allFinished", instead: "noneActive" },
  { old: "Hold", instead: "Lease" },
  { old: "settle", instead: "finalize" },
  { old: "HELD_DEPLOYMENT", instead: "a column list by its content" },
  { old: "news", instead: "the table's name" },
  { old: "seemsRunnerToken", instead: "looksLikeRunnerToken" },
  // Database and changelog
  { old: "armsOf", instead: "unionBranches" },
  { old: "orIfTaken", instead: "mapUniqueViolation" },
  { old: "tellerOf", instead: "changesOf" },
  { old: "changesNothing", instead: "isNoOp" },
  { old: "announceChange", instead: "writeAlarmEvent" },
  { old: "announceEntries", instead: "writeChangelogEvent" },
  { old: "announcePromotion", instead: "writePromotionEvent" },
  { old: "orIfNotUnique", instead: "mapUniqueViolation" },
  { old: "cutPage", instead: "limitPageBytes" },
  { old: "NumberedIds", instead: "IdSequence" },
  { old: "severalOf", instead: "enumFilter" },
  { old: "PatchRefused", instead: "PatchError" },
  { old: "PointerProblem", instead: "PointerError" },
  { old: "arms", instead: "branches" },
  { old: "recordHasExpectedVersion", instead: "resourceHasExpectedVersion" },
  { old: "findConflict", instead: "require…, which throws the reason" },
  { old: "requireCurrent", instead: "requireExpected" },
  { old: "getCurrent", instead: "requireExpected" },
  { old: "KeyRecord", instead: "KeyOrTombstone" },
  { old: "RECORD_TYPES", instead: "RESOURCE_TYPES" },
  { old: "recordedAttempts", instead: "earlierAttempts" },
  { old: "FoundedOrganization", instead: "OrganizationWithKey" },
  { old: "prepareFounding", instead: "prepareOrganization" },
  // The audit log, the changelog and idempotency entries
  { old: "recordActs", instead: "writeAudit" },
  { old: "recordActsOf", instead: "writeAuditOf" },
  { old: "recordActsFrom", instead: "writeAuditFrom" },
  { old: "recordChanges", instead: "writeChanges" },
  { old: "changeRecorder", instead: "changesOf" },
  { old: "recordResult", instead: "saveResponse" },
  { old: "recordRow", instead: "saveResponse" },
  { old: "recordWithSecrets", instead: "saveResponse" },
  { old: "recordUnchanged", instead: "saveUnchanged" },
  // Slack
  { old: "Story", instead: "MessageContent" },
  { old: "readWhole", instead: "readResponseBody" },
  // Tests
  { old: "rung", instead: "enqueued" },
  { old: "planted", instead: "canary" },
  { old: "Post", instead: "DeliveryHarness" },
  { old: "Grief", instead: "Fault" },
  { old: "GRIEFS", instead: "FAULTS" },
  { old: "grief", instead: "fault" },
  { old: "Sabotage", instead: "FaultInjector" },
  { old: "sabotage", instead: "injector" },
  { old: "PLANTED", instead: "CANARY_PREFIX" },
  { old: "plant", instead: "newCanarySecret" },
  { old: "plantIntegration", instead: "insertIntegration" },
  { old: "plantDeliveries", instead: "insertDeliveries" },
  { old: "plantAttempts", instead: "insertAttempts" },
  { old: "refuseLeak", instead: "assertNoLeak" },
  { old: "newLife", instead: "newInvocation" },
  { old: "leavesBehind", instead: "detachesWaitUntil" },
  { old: "complaints", instead: "contractViolations" },
  { old: "complaintsOfWebhook", instead: "webhookViolations" },
  { old: "Scenes", instead: "Scenarios" },
  { old: "Ledger", instead: "ConfigurationModel" },
  { old: "Relay", instead: "FaultyProxy" },
  // Commands, the runner and benchmarks
  { old: "carryOut", instead: "executeAttempt" },
  { old: "Unanswered", instead: "NoResponseError" },
  { old: "runScript", instead: "runCommand" },
  { old: "greetNewcomer", instead: "firstStartMessage" },
  { old: "greetAgain", instead: "laterStartMessage" },
  { old: "Amounts", instead: "HistorySize" },
  { old: "furnish", instead: "connectAndAddStacks" },
  { old: "Finding", instead: "BenchmarkResult" },
  { old: "CROWD", instead: "CONCURRENT_CONNECTIONS" },
];

/** Ends of paths: names of files and folders. */
const FILES: readonly Replaced[] = [
  { old: "/frame.ts", instead: "request-pipeline.ts" },
  { old: "/gate.ts", instead: "dispatcher.ts" },
  { old: "/planes.ts", instead: "schemes.ts" },
  { old: "/whole-body.ts", instead: "fetch.ts" },
  { old: "/arms.ts", instead: "union-branches.ts" },
  { old: "/unfinished.ts", instead: "the statuses in lifecycle.ts" },
  { old: "/desire.ts", instead: "directive.ts" },
  { old: "/ring.ts", instead: "queue-message.ts" },
  { old: "/rescue-store.ts", instead: "sweep.ts" },
  { old: "/settle-store.ts", instead: "transitions/finalize.ts" },
  { old: "/strangers.ts", instead: "client-address-limiter.ts" },
  { old: "/verdict.ts", instead: "consumer.ts" },
  { old: "/patience.ts", instead: "consumer.ts" },
  { old: "/notice.ts", instead: "queue-message.ts" },
  { old: "/announcement-store.ts", instead: "write-events.ts" },
  { old: "/place.ts", instead: "model.ts" },
  { old: "/kinds.ts", instead: "model.ts or events.ts" },
  { old: "/greeting.ts", instead: "start-message.ts" },
  { old: "/failure.ts", instead: "errors.ts or command.ts" },
  { old: "/hold.ts", instead: "lease.ts" },
  { old: "/wire.ts", instead: "api-types.ts" },
  { old: "/amounts.ts", instead: "history-size.ts" },
  { old: "/planted.ts", instead: "canary-secrets.ts" },
  { old: "/post.ts", instead: "delivery-harness.ts" },
  { old: "/sabotage.ts", instead: "fault-injector.ts" },
  { old: "/scenes.ts", instead: "scenarios.ts" },
  { old: "/ledger.ts", instead: "configuration-model.ts" },
  { old: "/people.ts", instead: "user-actor.ts" },
  { old: "/stage.ts", instead: "fixture.ts" },
];

const FOLDERS: readonly Replaced[] = [{ old: "test/laws/", instead: "test/properties/" }];

/** Matches the whole word: no letter, digit, `_` or `$` on either side. */
function wordPattern(word: string): RegExp {
  return new RegExp(`(?<![\\w$])${word.replaceAll(/[^\w]/g, "\\$&")}(?![\\w$])`);
}

describe("replaced words", () => {
  it("are tested in all folders with code", () => {
    const folders = new Set(code.map(({ file }) => file.split("/")[0]));
    expect([...folders].toSorted()).toEqual(["bench", "packages", "scripts", "src", "test"]);
  });

  it("do not remain as identifiers", () => {
    const remaining = IDENTIFIERS.flatMap(({ old, instead }) => {
      const pattern = wordPattern(old);
      return code
        .filter(({ text }) => pattern.test(text))
        .map(({ file }) => `${file}: ${old} (use ${instead})`);
    });
    expect(remaining).toEqual([]);
  });

  it("do not remain as names of files or folders", () => {
    const remaining = code.flatMap(({ file }) =>
      [
        ...FILES.filter(({ old }) => file.endsWith(old)),
        ...FOLDERS.filter(({ old }) => file.startsWith(old)),
      ].map(({ old, instead }) => `${file}: ${old} (use ${instead})`),
    );
    expect(remaining).toEqual([]);
  });
});

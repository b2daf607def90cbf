import type { LIMITS } from "../../src/lib/limits.ts";
import type { LimitedKind } from "../../src/lib/resource-types.ts";

export interface LimitDescription {
  what: string;
  unit:
    | "bytes"
    | "characters"
    | "items"
    | "levels"
    | "ms"
    | "seconds"
    | "requests"
    | "times the limit of one key"
    | "units";
  /** What happens beyond it. */
  beyond: string;
}

const BAD_INPUT = "`bad_input`";
const CONFLICT = "`conflict`, which names the limit";

const limitIn =
  (unit: LimitDescription["unit"]) =>
  (what: string, beyond = BAD_INPUT): LimitDescription => ({ what, unit, beyond });

const bytes = limitIn("bytes");
const characters = limitIn("characters");
const items = limitIn("items");
const levels = limitIn("levels");
const ms = limitIn("ms");
const seconds = limitIn("seconds");
const requests = limitIn("requests");
const timesOfKey = limitIn("times the limit of one key");
const units = limitIn("units");

/** Of the types whose name is another one than in `usage`. */
const QUOTA_NAMES: { readonly [Kind in LimitedKind]?: string } = {
  project_members: "Project members, over all projects,",
  api_keys: "API keys",
  integrations: "Notification integrations",
};

export function describeQuota(kind: LimitedKind): LimitDescription {
  const [first = "", ...rest] = kind.replaceAll("_", " ");
  const resources = QUOTA_NAMES[kind] ?? `${first.toUpperCase()}${rest.join("")}`;
  return items(`${resources} of an organization`, "`conflict`, which names the quota");
}

/** For docs/limits.md, in the order of the page. */
export const LIMIT_DESCRIPTIONS = {
  bodyBytes: bytes("The body of a request"),
  documentDepth: levels(
    "Nesting of a JSON document: a configuration, or the value of a patch operation. A stored " +
      "document that is nested deeper stays readable and can be redeployed",
  ),
  bodyDepth: levels("Nesting of the body of a request"),
  configurationBytes: bytes("The configuration of an environment, as JSON"),
  patchOperations: items("Operations of a patch that a caller sends"),
  patchBytes: bytes(
    "A patch with its `old_value`s, as JSON",
    "`bad_input`. Redeploy and promote leave out the `old_value`s instead; if the patch is still " +
      "larger, it becomes one `replace` of the whole configuration",
  ),
  copiedBytes: bytes("Data that the `copy` operations of a patch copy in total, as JSON"),
  pointerLength: characters("The `path` and the `from` of a patch operation"),
  deploymentStacks: items("The `stack_ids` of a deployment"),
  pageItems: items("Items on a page"),
  searchedRows: items(
    "Rows that a list reads for one page, if it has to search among others: with several filters of the audit log, or before " +
      "the purge has removed what was deleted",
    "the page ends early, with `has_more`",
  ),
  addedMembers: items("Members that one request adds to a project"),
  writtenVariables: items("Variables that one request writes"),
  poolEnvironments: items("Environments of a runner pool"),
  reportedResources: items(
    "Resources that a runner reports of a stack, which are all that are not `DELETE_COMPLETE`",
  ),
  stackOutputs: items("Outputs of a stack"),
  outputNameLength: characters("Name of an output of a stack"),
  outputBytes: bytes("Value of an output of a stack"),
  outputBytesOfEnvironment: bytes(
    "Outputs of all stacks of an environment, as JSON",
    "those of the report are not stored, and its response says so",
  ),
  deletedResources: items(
    "`DELETE_COMPLETE` resources of a stack",
    "a report of the stack deletes those that were deleted first",
  ),
  deletedResourceMs: ms(
    "How long a `DELETE_COMPLETE` resource is kept since its last change",
    "it is deleted",
  ),
  sweepResources: items(
    "`DELETE_COMPLETE` resources that one run of the sweep deletes, once they are too old",
    "the next run, within a minute, continues",
  ),
  sweepStacks: items(
    "Stacks whose resources one run of the sweep counts for `usage`, once they have changed, of organizations in turn",
    "the next run, within a minute, continues with those that have waited longest",
  ),
  logChunkBytes: bytes("Bytes of a log in one request of a runner"),
  logBytes: bytes(
    "The log of a deployment",
    "the rest is not kept, and the last line says so; the deployment continues",
  ),
  logBytesOfDay: bytes(
    "The logs of an organization on one day (UTC), together with those of the organizations that share " +
      "its rate limits",
    "as beyond the limit of a log: of each log that goes on, the rest is not kept",
  ),
  logLineBytes: bytes("A line of a log in one item", "the next item has the rest of the line"),
  logPageBytes: bytes("Bytes of a log on one page of lines", "`has_more`"),
  logPageLines: items("Lines of a log on one page", "`has_more`"),
  logSealsMs: ms(
    "Time after the end of a deployment in which its log accepts missing bytes",
    "the log is sealed, and is `truncated` if bytes are missing",
  ),
  logRetentionMs: ms(
    "How long the log of a deployment is kept after its end",
    "the log is deleted",
  ),
  logStreamMs: ms(
    "One response of events of a log",
    "the stream ends, and the client continues with `Last-Event-ID`",
  ),
  logFollowers: items("Streams that follow one log at the same time", "`rate`, with `Retry-After`"),
  logStreamsOfKey: items(
    "Open log streams of one key in one isolate",
    "`rate`, with `Retry-After`",
  ),
  sweepLogs: items(
    "Logs that one run of the sweep tells of the end of their deployment, or one request of a change",
    "the next run, within a minute, continues",
  ),
  variableValueBytes: bytes("The value of a variable, in UTF-8"),
  nameLength: characters(
    "Names of organizations, projects, API keys, pools, tokens, service accounts, trusts and alarms",
  ),
  slugLength: characters("Names of environments and components, of `a-z`, `0-9` and `-`"),
  stackNameLength: characters("Names of stacks"),
  variableNameLength: characters("Names of variables"),
  personLength: characters("Names of people, and the lines of a profile"),
  emailLength: characters("E-mail addresses"),
  descriptionLength: characters("Descriptions, biographies, and reasons"),
  urlLength: characters("Icons, avatars, websites, and the URLs of webhooks"),
  sourceLength: characters("Fields of a source, except for those that follow"),
  commitMessageLength: characters("The message of a commit"),
  commandWords: items("Words of a registry source's `command`"),
  commandWordLength: characters("A word of a registry source's `command`"),
  connectionNameLength: characters("The `context` or the `host` of a connection"),
  roleArnLength: characters("The `role_arn` of a connection"),
  requestIdLength: characters("The `request_id` of a claim, and a `failure_reason`"),
  resourceNameLength: characters("The `template_id` and `resource_type` of a resource"),
  physicalIdLength: characters("The `physical_id` of a resource"),
  statusReasonLength: characters("A `status_reason`, and the `message` of a completion"),
  apiKeyLength: characters("The `api_key` to sign in with"),
  invitationTokenLength: characters("The `token` of an invitation"),
  callbackLength: characters("Parameters of the callback from Slack"),
  pageBytes: bytes(
    "A page of a list, as sent; a page holds at least one item. The values of all variables of an " +
      "environment, or of a component, are one page, which the limits of an environment's variables bound",
    "the page ends early, with `has_more`; the next pages hold the rest",
  ),
  stacksOfEnvironment: items("Stacks in an environment", CONFLICT),
  variablesOfEnvironment: items(
    "Variables of an environment, those of its components included",
    CONFLICT,
  ),
  variableBytesOfEnvironment: bytes(
    "Values of the variables of an environment, decrypted, in total",
    CONFLICT,
  ),
  unfinishedDeployments: items("Unfinished deployments of an environment", CONFLICT),
  finalizedStacks: items(
    "Stacks of deployments that have ended, and 60 for each event, from which one batch ends no more of them",
    "the next request of the environment or its runners, or the schedule, continues",
  ),
  canceledDeployments: items(
    "Deployments of a project that one batch cancels when the project is disconnected",
    "the sweep continues within a minute; none of the others starts meanwhile",
  ),
  sweepFinalizations: items(
    "Such batches in one run of the sweep",
    "the next run, within a minute, continues",
  ),
  redeployableDeployments: items(
    "Newest deployments of an environment, which keep their configuration",
    "an older, finished deployment can no longer be redeployed or promoted: `conflict`",
  ),
  lapsedOffers: items(
    "Offers of a deployment that expire before a runner starts it",
    "the deployment fails with the reason `never_started`",
  ),
  releasedOffers: items(
    "Offers of a deployment that runners give back before one starts it",
    "the deployment fails with the reason `never_started`",
  ),
  approvalsRequired: items("Approvals that a rule of an environment needs"),
  minimumApprovalSeconds: seconds("`expires_after_seconds` of a rule, minimum"),
  maximumApprovalSeconds: seconds("`expires_after_seconds` of a rule, maximum"),
  ruleMembers: items("Members that a rule lists"),
  approvalsOfDeployment: items("People who approve or reject a deployment", CONFLICT),
  pendingApprovals: items(
    "Deployments waiting for approvals, of which a list has those that the caller may approve",
    "the list leaves out older ones",
  ),
  rulesBytes: bytes("The rules of an environment, as JSON"),
  rulePlaces: items("`environment_ids` of the rule `from`"),
  keptRules: items("Earlier rules of its environment that a queued deployment keeps", CONFLICT),
  keptRulesBytes: bytes(
    "Earlier rules that all queued deployments of an environment keep, as JSON",
    CONFLICT,
  ),
  freezes: items("Freezes of an organization and its projects", CONFLICT),
  windows: items("Weekly windows of an environment"),
  timeZoneLength: characters("The name of a time zone"),
  fromSeconds: seconds("`minimum_seconds` of the rule `from`, maximum"),
  sourceRules: items("Repositories and refs of the rule `sources`"),
  sweepHeld: items(
    "Held deployments that one run of the sweep evaluates, of organizations in turn",
    "the next run, within a minute, continues",
  ),
  sweepHeldMs: ms(
    "Time that one run of the sweep takes for them",
    "the next run, within a minute, continues",
  ),
  sweepDigests: items(
    "Configurations of successes that one run of the sweep digests for `same_configuration`, of organizations in turn",
    "the next run, within a minute, continues",
  ),
  sweepDigestsMs: ms(
    "Time that one run of the sweep takes for them",
    "the next run, within a minute, continues",
  ),
  minimumRunSeconds: seconds("`max_run_seconds` of a runner pool, minimum"),
  maximumRunSeconds: seconds("`max_run_seconds` of a runner pool, maximum"),
  ownedOrganizations: items(
    "Organizations that an account owns, deleted ones included until their purge ends, checked when " +
      "it creates another",
    CONFLICT,
  ),
  foundedOrganizations: items(
    "Organizations that keys of one organization have founded, and keys of these, deleted ones included " +
      "until their purge ends. Together, they store at most half of each quota of the first one. Those that " +
      "the installation's first organization founds are not counted",
    CONFLICT,
  ),
  apiKeysOfMembership: items("API keys of a membership", CONFLICT),
  keyBoundaries: items("`project_ids` of an API key or a trust, and `environment_ids`"),
  keyOverlap: seconds("`overlap_seconds` of the rotation of an API key"),
  minimumKeyAge: seconds("`max_age_seconds` of an organization's API keys, minimum"),
  maximumKeyAge: seconds("`max_age_seconds` of an organization's API keys, maximum"),
  trusts: items("Trusts of an organization", CONFLICT),
  trustAudienceLength: characters("The `audience` of a trust"),
  trustConditions: items("Conditions of a trust"),
  trustConditionValues: items("Values of one condition of a trust"),
  trustConditionNameLength: characters("The name of a claim in a condition of a trust"),
  trustConditionLength: characters("A value of a condition of a trust"),
  minimumKeySeconds: seconds("`ttl_seconds` of a trust, minimum"),
  maximumKeySeconds: seconds("`ttl_seconds` of a trust, maximum"),
  liveKeysOfTrust: items("Keys and runner tokens of a trust that have not expired", CONFLICT),
  exchangedTokenBytes: bytes("A JSON Web Token that a CI job exchanges"),
  exchangedTokenSeconds: seconds(
    "Time until the expiry of a JSON Web Token that a CI job exchanges",
    "`unauthenticated`",
  ),
  issuerTimeoutMs: ms(
    "Time until the keys of a trust's issuer have been read; of each request to the identity provider",
    "`bad_input` when the trust is created, `timeout` when a token is exchanged or a person signs in",
  ),
  issuerResponseBytes: bytes(
    "A response of a trust's issuer, or of the identity provider",
    "as of the timeout",
  ),
  issuerKeys: items("Keys of a trust's issuer", "as of the timeout"),
  tokenOverlapSeconds: seconds("`overlap_seconds` of the rotation of a runner token"),
  sweepExpiredKeys: items(
    "Expired keys, runner tokens and exchanged tokens of trusts that one run of the sweep deletes, of each",
    "the next run, within a minute, continues",
  ),
  idempotencyKeyLength: characters("The `Idempotency-Key` of a request"),
  idempotencyMs: ms(
    "How long a repeat of a request with an `Idempotency-Key` gets its response",
    "the request is carried out again",
  ),
  idempotencyBytes: bytes(
    "What an organization stores for repeats of requests with an `Idempotency-Key`",
    "each entry replaces the oldest of its own credential, never those of others",
  ),
  idempotencyCredentialBytes: bytes(
    "Of these, those of one API key or session",
    "its oldest are deleted",
  ),
  idempotencyReservedBytes: bytes(
    "Of these, what an API key or session keeps although the organization is beyond its limit",
    "its oldest are deleted",
  ),
  idempotencyTotalBytes: bytes(
    "What an organization stores for repeats with all of its credentials, together with those that share its founder",
    "a POST with an `Idempotency-Key` is `rate`, with `Retry-After`; a PATCH is carried out, and its repeat once more",
  ),
  sweepIdempotencyEntries: items(
    "Idempotency entries that one run of the sweep deletes, once they are too old",
    "the next run, within a minute, continues",
  ),
  runnerTokensOfPool: items("Tokens of a runner pool", CONFLICT),
  runnersOfPool: items(
    "Runners that a pool keeps, by their tokens and names",
    "a new one replaces the one that asked the longest ago, unless that was within the last minute",
  ),
  waitingPools: items(
    "Runner pools that a queued deployment names in `waiting_for`",
    "those that asked last are named",
  ),
  insightDays: items("Days of the insights of a project"),
  orderedEnvironments: items(
    "The `environment_ids` of the order of a project's environments. A project with more has none",
  ),
  previewedReferences: items("References of a deployment in its preview", "the first are shown"),
  overviewDeployments: items(
    "Deployments of an environment in the overview of its project",
    "the newest are shown",
  ),
  overviewQueue: items(
    "Queued deployments of an environment in the overview of its project",
    "those that start first are shown",
  ),
  overviewAlarms: items(
    "Raised alarms of an environment in the overview of its project",
    "those that changed last are shown",
  ),
  overviewAlarmsRead: items(
    "Alarms of an environment in each state that its overview considers, those of stacks that are deleted and not yet purged " +
      "included",
    "those that changed last are considered",
  ),
  waitingPoolsRead: items(
    "Runner pools of an environment that `waiting_for` considers",
    "those that have included the environment for longest are considered",
  ),
  runnerOnlineMs: ms(
    "Time for which a runner that has asked for work counts as online",
    "it is not listed",
  ),
  runnerSavedMs: ms(
    "Interval at which the last request of a runner is saved",
    "requests in between write nothing",
  ),
  invalidatedCredentials: items(
    "API keys and runner tokens that every isolate refuses at once after the deletion of their " +
      "organization, those of CI jobs last",
    "an isolate that has cached one refuses it within 30 s",
  ),
  sessionsOfMembership: items("Sessions of a membership that have not ended", CONFLICT),
  sessionWindowsOfKey: items(
    "Sessions of one key with a rate limit of their own within 60 s",
    "the other sessions of the key share one more",
  ),
  signInLinksOfKey: items("Unused sign-in links of a key", CONFLICT),
  openInvitations: items("Open invitations of an organization", CONFLICT),
  storedBytes: bytes(
    "Data that an organization stores, in UTF-8: names, configurations, encrypted variables, deployments, and " +
      "the other fields that callers write",
    CONFLICT,
  ),
  historyBytes: bytes(
    "The share of an organization's history: changelog, events, deliveries, and deployments beyond the newest " +
      "of their environment",
    "the oldest is deleted; nothing is refused",
  ),
  sweepHistory: items(
    "Rows of a table of history that one statement of the schedule counts, in up to 10 batches of a run",
    "the next run, within a minute, continues",
  ),
  databaseWarningBytes: bytes(
    "The database, with the data of all organizations",
    "an error in the log names the largest organizations, every hour; `/health` and `usage` say `filling`",
  ),
  databaseFullBytes: bytes(
    "The same, from which it is full",
    "`conflict` for what creates or enlarges live data, of every organization; `/health` and `usage` say `full`",
  ),
  databaseCriticalBytes: bytes(
    "The same, from which also young entries of audit logs are deleted",
    "the oldest of the largest organization are deleted, with an error in the log",
  ),
  integrationsPerProject: items("Notification integrations of a project", "`conflict`"),
  integrationFilters: items("`environment_ids` of an integration, and `stack_ids`"),
  resumedDeliveries: items(
    "Waiting retries that one resume of an integration makes due",
    "the others keep their times; resume again",
  ),
  recoveryMs: ms("Time from the `since` of a recovery until its request"),
  recoveredDeliveries: items(
    "Failed deliveries that one run of the sweep reads for recoveries, over all of them",
    "the next run, within a minute, continues",
  ),
  ownerNotificationMs: ms(
    "Time between two changelog entries that an integration fails, or that it pauses for long",
    "the service adds no entry",
  ),
  changelogEventEntries: items(
    "Entries in one `changelog.created` event",
    "the event has the first 50 and the `count` of all; the changelog has every entry",
  ),
  changelogEventName: characters(
    "The name of a resource in a `changelog.created` event",
    "the event has the first 100 characters; the changelog has the whole name",
  ),
  recordedFieldBytes: bytes(
    "A field in the `changes` of an audit entry, or of a changelog entry, as JSON",
    "the entry has its length only",
  ),
  auditEntriesOfDay: items(
    "Entries in the audit log of an organization on one day (UTC)",
    "`rate`, with `Retry-After`; what cancels, revokes, deletes or removes is carried out, and counted",
  ),
  auditBytesOfDay: bytes("The same, in UTF-8", "as above"),
  auditNamesLength: characters(
    "The names in an audit entry of an act on several variables, as JSON",
    "the entry has the first, and the `count` of all",
  ),
  userAgentLength: characters(
    "The `User-Agent` in an audit entry, and in a list of sessions",
    "the rest is cut off",
  ),
  auditExportEntries: items(
    "Entries in one export of the audit log",
    "the export ends with `has_more`, and its `cursor` continues it",
  ),
  auditExportAgeMs: ms(
    "Age from which an entry is in an export of the audit log",
    "a newer entry is in the list, and in a later export",
  ),
  deploymentEventStacks: items(
    "Stacks in one event about a deployment",
    "the event has the first 25; the deployment has all of them",
  ),
  deploymentEventReasonLength: characters(
    "The `reason` of a deployment in one event about it",
    "the event has the first 300 characters; the deployment has all of them",
  ),
  deploymentEventOutputBytes: bytes(
    "Outputs in one event about a deployment, as JSON",
    "the event has the first, and those named `url` before all others; each stack has all of its own",
  ),
  slackConfirmationMs: ms(
    "Time in which an owner confirms a Slack installation",
    "the installation is deleted",
  ),
  deliveryTimeoutMs: ms(
    "Time until the response to a webhook has been read, to its end or to the limit below",
    "the attempt fails",
  ),
  responseReadBytes: bytes(
    "Data that is read of the response to a webhook",
    "the rest is not read; the attempt counts",
  ),
  responseExcerptBytes: bytes(
    "Data that is stored of the response to a webhook",
    "the rest is discarded",
  ),
  retryAfterMs: ms("`Retry-After` in the response to a webhook", "it counts as 12 h"),
  failingMs: ms(
    "Time in which every attempt of an integration fails",
    "the integration is disabled by its next delivery that fails twice",
  ),
  hostRequests: requests(
    "Requests to webhooks of one host in any second, over all organizations, which take turns, without a 2xx response of the host in the time below",
    "the deliveries wait, which is no attempt",
  ),
  hostSuccessMs: ms(
    "Time since the last 2xx response of a host in which requests to it are not limited",
    "the limit above applies",
  ),
  deliveryClaims: items(
    "Claims of a delivery, including those that end without a recorded delivery attempt, apart from those that are given back",
    "the delivery fails with the reason `too_many_attempts`",
  ),
  sweepMs: ms("One run of the sweep for recoveries", "the next run, within a minute, continues"),
  deliveryConnections: requests(
    "Requests to webhooks that one run of the sender makes at the same time",
    "the others wait, and their time has not started",
  ),
  claimedDeliveries: items(
    "Deliveries that one run of the sender has claimed and not sent",
    "it claims more when it has sent some",
  ),
  claimingMs: ms(
    "Time in which one run of the sender claims and starts to send deliveries",
    "another run continues",
  ),
  scannedOrganizations: items(
    "Organizations with pending deliveries that one claim considers, besides those of new events",
    "the others take their turns when messages name them",
  ),
  scannedIntegrations: items(
    "Integrations with pending deliveries that one claim considers, besides those of new events",
    "the others take their turns when messages name them",
  ),
  sweepDeliveries: items(
    "Integrations with overdue deliveries for which one run of the sweep wakes the sender",
    "the next run, within a minute, continues",
  ),
  sweepInstallations: items(
    "Unconfirmed Slack installations that one run of the sweep deletes",
    "the next run, within a minute, continues",
  ),
  deletedRows: items(
    "Rows of each kind, such as variables or stacks, that the deletion of a project, an environment, a " +
      "component or a stack deletes at once, with what it contains",
    "no request finds the others; the purge deletes them, and until then they count in `usage`",
  ),
  deletedCredentials: items(
    "Credentials of each kind, such as API keys or sessions, that the deletion of an organization deletes at once",
    "the others are refused from then on; the purge deletes them",
  ),
  revokedCredentials: items(
    "Credentials that one batch of a revocation ends, of a family, a trust or a member",
    "the next batch of the same request continues",
  ),
  deletedOfPool: items(
    "Runner tokens, and attempts, of a runner pool that one batch of its deletion deletes",
    "the next batch of the same request continues",
  ),
  purgeRows: items("Rows that one statement of the purge deletes", "the next statement continues"),
  purgeLogs: items(
    "Logs that one batch of the purge deletes, with their deployments",
    "the next batch continues",
  ),
  purgeBatches: items(
    "Batches of statements in one run of the purge",
    "the next run, within a minute, continues",
  ),
  purgeSettlesMs: ms(
    "Time after the deletion of an organization in which the purge looks for rows of requests in progress",
    "no request inserts any",
  ),
  purgeMs: ms("One run of the purge", "the next run, within a minute, continues"),
  sweepInvitations: items(
    "Invitations that one run of the sweep checks for their expiry, the oldest first",
    "the next run, within a minute, continues",
  ),
  sweepSessions: items(
    "Sessions and sign-in links that one run of the sweep checks for their end, the oldest first",
    "later runs continue; one that has ended may remain for up to 7 days, without effect",
  ),
  organizationRequests: timesOfKey(
    "Requests of all keys and runner tokens of one organization in any 60 s, for each rate limit " +
      "policy. Below 16 times the limit of one key, no request is rejected for this limit; above, " +
      "only those of a membership, a trust or a runner pool that has used 4 times",
    "`rate`, with headers that name the policy `organization`",
  ),
  databaseUnits: units(
    "Database work of the requests of one organization in any 60 s, those of runners apart: a row that " +
      "is read is one unit, a row that is written 8; 1,000 characters that a statement takes are 100, and " +
      "that it returns 3. Above four fifths, only requests of a membership or a trust that has used less " +
      "than a fifth are admitted",
    "`rate`, with headers that name the policy `organization`; except cancellations, revocations and " +
      "every other DELETE",
  ),
  runnerDatabaseUnits: units(
    "The same, of the runners of one organization. Above four fifths, only requests of a pool that has " +
      "used less than a fifth are admitted",
    "`rate`, except starts, heartbeats, final reports of a stack, completions, releases and appends to " +
      "a log",
  ),
  burstUnits: units(
    "Database work of one organization in one isolate that may be ahead of the pace of its budget, " +
      "which is a 60,000th of it in each millisecond; four fifths of that for one membership, trust or pool",
    "requests wait in turn, except those that the budget never refuses",
  ),
  exemptUnitsOfRow: units(
    "Database work of a cancellation, a revocation or another DELETE of a caller for each row that it writes. What they " +
      "cost beyond that, by more than a burst and a fifth of the pace, counts for the organization in that isolate",
    "the budget refuses these, too, and they wait in turn",
  ),
  paceWaitMs: ms(
    "How long a request waits for that",
    "`rate`, with headers that name the policy `organization`",
  ),
  concurrentReads: requests(
    "Requests of one key in progress in one isolate when another read arrives",
    "the read calls the rate limiter before it reads the database, as a write does",
  ),
  addressRequests: requests(
    "Requests from one client address in 60 s without a valid key, or with a key that the isolate " +
      "has not cached",
    "`rate`; a key that was used before is still looked up and accepted",
  ),
} satisfies Record<keyof typeof LIMITS, LimitDescription>;

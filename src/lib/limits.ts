/** A limit on what a caller can send, store, or make the service do. */
export interface Limit {
  /** What is limited, for docs/limits.md. */
  what: string;
  /** In `unit`. */
  value: number;
  unit:
    | "bytes"
    | "characters"
    | "items"
    | "levels"
    | "ms"
    | "seconds"
    | "requests"
    | "times the limit of one key";
  /** What happens beyond it. */
  beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const HOUR_MS = 3_600_000;
const DOCUMENT_DEPTH = 64;

const BAD_INPUT = "`bad_input`";
const CONFLICT = "`conflict`, which names the limit";

const limitIn =
  (unit: Limit["unit"]) =>
  (what: string, value: number, beyond = BAD_INPUT): Limit => ({ what, value, unit, beyond });

const bytes = limitIn("bytes");
const characters = limitIn("characters");
const items = limitIn("items");
const levels = limitIn("levels");
const ms = limitIn("ms");
const seconds = limitIn("seconds");
const requests = limitIn("requests");
const timesOfKey = limitIn("times the limit of one key");

const quota = (records: string, value: number) =>
  items(`${records} of an organization`, value, "`conflict`, which names the quota");

/** Every limit of the service. docs/limits.md is generated from this table. */
export const LIMITS = {
  bodyBytes: bytes("The body of a request", MIB),
  documentDepth: levels(
    "Nesting of a JSON document: a configuration, or the value of a patch operation. A stored " +
      "document that is nested deeper stays readable and can be redeployed",
    DOCUMENT_DEPTH,
  ),
  // The deepest document in a body is the value of a patch operation: `{"patch":[{"value":…`.
  bodyDepth: levels("Nesting of the body of a request", DOCUMENT_DEPTH + 3),
  configurationBytes: bytes("The configuration of an environment, as JSON", 256 * KIB),
  patchOperations: items("Operations of a patch that a caller sends", 200),
  patchBytes: bytes(
    "A patch with its `old_value`s, as JSON",
    256 * KIB,
    "`bad_input`. Redeploy and promote leave out the `old_value`s instead; if the patch is still " +
      "larger, it becomes one `replace` of the whole configuration",
  ),
  copiedBytes: bytes("Data that the `copy` operations of a patch copy in total, as JSON", MIB),
  pointerLength: characters("The `path` and the `from` of a patch operation", 2000),
  deploymentStacks: items("The `stack_ids` of a deployment", 500),
  pageRecords: items("Records on a page", 240),
  addedMembers: items("Members that one request adds to a project", 100),
  writtenVariables: items("Variables that one request writes", 200),
  poolEnvironments: items("Environments of a runner pool", 100),
  reportedResources: items("Resources that a runner reports of a stack", 500),
  logChunkBytes: bytes("Bytes of a log in one request of a runner", 256 * KIB),
  logBytes: bytes(
    "The log of a deployment",
    16 * MIB,
    "the rest is not kept, and the last line says so; the deployment continues",
  ),
  logLineBytes: bytes(
    "A line of a log in one record",
    64 * KIB,
    "the next record has the rest of the line",
  ),
  logPageBytes: bytes("Bytes of a log on one page of lines", 128 * KIB, "`has_more`"),
  logPageLines: items("Lines of a log on one page", 1_000, "`has_more`"),
  logSealsMs: ms(
    "Time after the end of a deployment in which its log accepts missing bytes",
    600_000,
    "the log is sealed, and is `truncated` if bytes are missing",
  ),
  logRetentionMs: ms(
    "How long the log of a deployment is kept after its end",
    30 * 24 * HOUR_MS,
    "the log is deleted",
  ),
  logStreamMs: ms(
    "One response of events of a log",
    15 * 60_000,
    "the stream ends, and the client continues with `Last-Event-ID`",
  ),
  logFollowers: items(
    "Streams that follow one log at the same time",
    2_000,
    "`rate`, with `Retry-After`",
  ),
  logStreamsOfKey: items(
    "Open log streams of one key in one isolate",
    300,
    "`rate`, with `Retry-After`",
  ),
  sweepLogs: items(
    "Logs that one run of the sweep tells of the end of their deployment, or one request of a change",
    100,
    "the next run, within a minute, continues",
  ),
  variableValueBytes: bytes("The value of a variable, in UTF-8", 32 * KIB),
  nameLength: characters(
    "Names of organizations, projects, API keys, pools, tokens, service accounts, trusts and alarms",
    100,
  ),
  slugLength: characters("Names of environments and components, of `a-z`, `0-9` and `-`", 64),
  stackNameLength: characters("Names of stacks", 128),
  variableNameLength: characters("Names of variables", 255),
  personLength: characters("Names of people, and the lines of a profile", 200),
  emailLength: characters("E-mail addresses", 254),
  descriptionLength: characters("Descriptions, biographies, and reasons", 1_000),
  urlLength: characters("Icons, avatars, websites, and the URLs of webhooks", 2_000),
  sourceLength: characters("Fields of a source, except for those that follow", 500),
  commitMessageLength: characters("The message of a commit", 20_000),
  commandWords: items("Words of a registry source's `command`", 100),
  commandWordLength: characters("A word of a registry source's `command`", 4_000),
  roleArnLength: characters("The `role_arn` of a connection", 2_048),
  externalIdLength: characters("The `external_id` of a connection", 1_224),
  requestIdLength: characters("The `request_id` of a claim, and a `failure_reason`", 200),
  resourceNameLength: characters("The `template_id` and `resource_type` of a resource", 255),
  physicalIdLength: characters("The `physical_id` of a resource", 2_048),
  statusReasonLength: characters("A `status_reason`, and the `message` of a completion", 2_000),
  apiKeyLength: characters("The `api_key` to sign in with", 200),
  invitationTokenLength: characters("The `token` of an invitation", 200),
  callbackLength: characters("Parameters of the callback from Slack", 4_000),
  pageBytes: bytes(
    "A page of a list, as sent; a page holds at least one record. The values of all variables of an " +
      "environment, or of a component, are one page, which the limits of an environment's variables bound",
    MIB,
    "the page ends early, with `has_more`; the next pages hold the rest",
  ),
  stacksOfEnvironment: items("Stacks in an environment", 500, CONFLICT),
  variablesOfEnvironment: items(
    "Variables of an environment, those of its components included",
    1_000,
    CONFLICT,
  ),
  variableBytesOfEnvironment: bytes(
    "Values of the variables of an environment, decrypted, in total",
    MIB,
    CONFLICT,
  ),
  unfinishedDeployments: items("Unfinished deployments of an environment", 1_000, CONFLICT),
  redeployableDeployments: items(
    "Newest deployments of an environment, which keep their configuration",
    1_000,
    "an older, finished deployment can no longer be redeployed or promoted: `conflict`",
  ),
  lapsedOffers: items(
    "Offers of a deployment that expire before a runner starts it",
    5,
    "the deployment fails with the reason `never_started`",
  ),
  minimumRunSeconds: seconds("`max_run_seconds` of a runner pool, minimum", 60),
  maximumRunSeconds: seconds("`max_run_seconds` of a runner pool, maximum", 7 * 24 * 3_600),
  ownedOrganizations: items(
    "Organizations that an account owns, deleted ones included until their purge ends, checked when " +
      "it creates another",
    25,
    CONFLICT,
  ),
  apiKeysOfMembership: items("API keys of a membership", 100, CONFLICT),
  keyBoundaries: items("`project_ids` of an API key or a trust, and `environment_ids`", 50),
  keyOverlap: seconds("`overlap_seconds` of the rotation of an API key", 24 * 3_600),
  minimumKeyAge: seconds("`max_age_seconds` of an organization's API keys, minimum", 3_600),
  maximumKeyAge: seconds(
    "`max_age_seconds` of an organization's API keys, maximum",
    5 * 365 * 24 * 3_600,
  ),
  trusts: items("Trusts of an organization", 100, CONFLICT),
  trustAudienceLength: characters("The `audience` of a trust", 500),
  trustConditions: items("Conditions of a trust", 20),
  trustConditionValues: items("Values of one condition of a trust", 20),
  trustConditionNameLength: characters("The name of a claim in a condition of a trust", 100),
  trustConditionLength: characters("A value of a condition of a trust", 500),
  minimumKeySeconds: seconds("`ttl_seconds` of a trust, minimum", 60),
  maximumKeySeconds: seconds("`ttl_seconds` of a trust, maximum", 3_600),
  liveKeysOfTrust: items(
    "Keys and runner tokens of a trust that have not expired",
    1_000,
    CONFLICT,
  ),
  exchangedTokenBytes: bytes("A JSON Web Token that a CI job exchanges", 8 * KIB),
  exchangedTokenSeconds: seconds(
    "Time until the expiry of a JSON Web Token that a CI job exchanges",
    24 * 3_600,
    "`unauthenticated`",
  ),
  issuerTimeoutMs: ms(
    "Time until the keys of a trust's issuer have been read; of each request to the identity provider",
    5_000,
    "`bad_input` when the trust is created, `timeout` when a token is exchanged or a person signs in",
  ),
  issuerResponseBytes: bytes(
    "A response of a trust's issuer, or of the identity provider",
    256 * KIB,
    "as of the timeout",
  ),
  issuerKeys: items("Keys of a trust's issuer", 100, "as of the timeout"),
  tokenOverlapSeconds: seconds("`overlap_seconds` of the rotation of a runner token", 24 * 3_600),
  sweepExpiredKeys: items(
    "Expired keys, runner tokens and exchanged tokens of trusts that one run of the sweep deletes, of each",
    5_000,
    "the next run, within a minute, continues",
  ),
  idempotencyKeyLength: characters("The `Idempotency-Key` of a request", 255),
  idempotencyMs: ms(
    "How long a repeat of a request with an `Idempotency-Key` gets its response",
    24 * HOUR_MS,
    "the request is carried out again",
  ),
  // The trigger `idempotency_records_size` has it, too.
  idempotencyBytes: bytes(
    "What an organization stores for repeats of requests with an `Idempotency-Key`",
    64 * MIB,
    "the oldest are deleted",
  ),
  sweepIdempotencyRecords: items(
    "Records for repeats that one run of the sweep deletes, once they are too old",
    20_000,
    "the next run, within a minute, continues",
  ),
  runnerTokensOfPool: items("Tokens of a runner pool", 100, CONFLICT),
  // At least `apiKeys` and `runnerTokens`, so that only those of CI jobs can be beyond it.
  invalidatedCredentials: items(
    "API keys and runner tokens that every isolate refuses at once after the deletion of their " +
      "organization, those of CI jobs last",
    2_000,
    "an isolate that has cached one refuses it within 30 s",
  ),
  sessionsOfMembership: items("Sessions of a membership that have not ended", 100, CONFLICT),
  sessionWindowsOfKey: items(
    "Sessions of one key with a rate limit of their own within 60 s",
    8,
    "the other sessions of the key share one more",
  ),
  signInLinksOfKey: items("Unused sign-in links of a key", 10, CONFLICT),
  openInvitations: items("Open invitations of an organization", 200, CONFLICT),
  storedBytes: bytes(
    "Data that an organization stores: names, configurations, encrypted variables, deployments, and " +
      "the other fields that callers write",
    1024 * MIB,
    CONFLICT,
  ),
  projects: quota("Projects", 1_000),
  environments: quota("Environments", 10_000),
  components: quota("Components", 50_000),
  stacks: quota("Stacks", 50_000),
  variables: quota("Variables", 100_000),
  alarms: quota("Alarms", 50_000),
  members: quota("Members", 10_000),
  projectMembers: quota("Project members, over all projects,", 100_000),
  apiKeys: quota("API keys", 1_000),
  runnerPools: quota("Runner pools", 1_000),
  runnerTokens: quota("Runner tokens", 1_000),
  integrations: quota("Notification integrations", 10_000),
  integrationsPerProject: items("Notification integrations of a project", 20, "`conflict`"),
  integrationFilters: items("`environment_ids` of an integration, and `stack_ids`", 50),
  resumedDeliveries: items(
    "Waiting retries that one resume of an integration makes due",
    100_000,
    "the others keep their times; resume again",
  ),
  recoveryMs: ms("Time from the `since` of a recovery until its request", 30 * 24 * HOUR_MS),
  recoveredDeliveries: items(
    "Failed deliveries that one run of the sweep reads for recoveries, over all of them",
    5_000,
    "the next run, within a minute, continues",
  ),
  ownerNotificationMs: ms(
    "Time between two changelog entries that an integration fails, or that it pauses for long",
    24 * HOUR_MS,
    "the service adds no entry",
  ),
  changelogEventEntries: items(
    "Entries in one `changelog.created` event",
    50,
    "the event has the first 50 and the `count` of all; the changelog has every entry",
  ),
  changelogEventName: characters(
    "The name of a record in a `changelog.created` event",
    100,
    "the event has the first 100 characters; the changelog has the whole name",
  ),
  recordedFieldLength: characters(
    "A field in the `changes` of an audit record, or of a changelog entry, as JSON",
    16_384,
    "the record has its length only; of the names of the variables whose values one request reads, " +
      "it has the first, and the `count` of all",
  ),
  auditExportRecords: items(
    "Records in one export of the audit log",
    50_000,
    "the export ends with `has_more`, and its `cursor` continues it",
  ),
  auditExportAgeMs: ms(
    "Age from which a record is in an export of the audit log",
    60_000,
    "a newer record is in the list, and in a later export",
  ),
  deploymentEventStacks: items(
    "Stacks in one event about a deployment",
    25,
    "the event has the first 25; the deployment has all of them",
  ),
  slackConfirmationMs: ms(
    "Time in which an owner confirms a Slack installation",
    24 * HOUR_MS,
    "the installation is deleted",
  ),
  deliveryTimeoutMs: ms(
    "Time until the response to a webhook has been read, to its end or to the limit below",
    15_000,
    "the attempt fails",
  ),
  responseReadBytes: bytes(
    "Data that is read of the response to a webhook",
    16 * KIB,
    "the rest is not read; the attempt counts",
  ),
  responseExcerptBytes: bytes(
    "Data that is stored of the response to a webhook",
    KIB,
    "the rest is discarded",
  ),
  retryAfterMs: ms("`Retry-After` in the response to a webhook", 12 * HOUR_MS, "it counts as 12 h"),
  failingMs: ms(
    "Time in which every attempt of an integration fails",
    5 * 24 * HOUR_MS,
    "the integration is disabled by its next delivery that fails twice",
  ),
  deliveryClaims: items(
    "Claims of a delivery, including those that end without a recorded attempt",
    100,
    "the delivery fails with the reason `too_many_attempts`",
  ),
  sweepMs: ms(
    "One run of the sweep for recoveries",
    20_000,
    "the next run, within a minute, continues",
  ),
  deliveryConnections: requests(
    "Requests to webhooks that one run of the sender makes at the same time",
    5,
    "the others wait, and their time has not started",
  ),
  claimedDeliveries: items(
    "Deliveries that one run of the sender has claimed and not sent",
    60,
    "it claims more when it has sent some",
  ),
  claimingMs: ms(
    "Time in which one run of the sender claims and starts to send deliveries",
    8_000,
    "another run continues",
  ),
  scannedOrganizations: items(
    "Organizations with pending deliveries that one claim considers, besides those of new events",
    100,
    "the others take their turns when messages name them",
  ),
  scannedIntegrations: items(
    "Integrations with pending deliveries that one claim considers, besides those of new events",
    200,
    "the others take their turns when messages name them",
  ),
  sweepDeliveries: items(
    "Integrations with overdue deliveries for which one run of the sweep wakes the sender",
    100,
    "the next run, within a minute, continues",
  ),
  sweepInstallations: items(
    "Unconfirmed Slack installations that one run of the sweep deletes",
    100,
    "the next run, within a minute, continues",
  ),
  purgeRows: items(
    "Rows that one statement of the purge deletes",
    500,
    "the next statement continues",
  ),
  purgeLogs: items(
    "Logs that one batch of the purge deletes, with their deployments",
    20,
    "the next batch continues",
  ),
  purgeBatches: items(
    "Batches of statements in one run of the purge",
    300,
    "the next run, within a minute, continues",
  ),
  purgeSettlesMs: ms(
    "Time after the deletion of an organization in which the purge looks for rows of requests in progress",
    600_000,
    "no request inserts any",
  ),
  purgeMs: ms("One run of the purge", 25_000, "the next run, within a minute, continues"),
  sweepInvitations: items(
    "Invitations that one run of the sweep checks for their expiry, the oldest first",
    500,
    "the next run, within a minute, continues",
  ),
  sweepSessions: items(
    "Sessions and sign-in links that one run of the sweep checks for their end, the oldest first",
    500,
    "later runs continue; those after current ones may remain for up to 7 days, without effect",
  ),
  organizationRequests: timesOfKey(
    "Requests of all keys and runner tokens of one organization in any 60 s, for each rate limit " +
      "policy. Below 16 times the limit of one key, no request is rejected for this limit; above, " +
      "only those of a membership, a trust or a runner pool that has used 4 times",
    20,
    "`rate`, with headers that name the policy `organization`",
  ),
  concurrentReads: requests(
    "Requests of one key in progress in one isolate when another read arrives",
    32,
    "the read calls the rate limiter before it reads the database, as a write does",
  ),
  addressRequests: requests(
    "Requests from one client address in 60 s without a valid key, or with a key that the isolate " +
      "has not cached",
    300,
    "`rate`; a key that was used before is still looked up and accepted",
  ),
} as const satisfies Record<string, Limit>;

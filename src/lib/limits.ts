/** A bound on what a caller can send, store, or make the service do. */
export interface Limit {
  /** What is bounded, for docs/limits.md. */
  what: string;
  /** In `unit`. */
  value: number;
  unit: "bytes" | "characters" | "items" | "levels" | "ms" | "requests";
  /** What happens beyond it. */
  beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const DOCUMENT_DEPTH = 64;

const CONFLICT = "`conflict`, which names the limit";

function quota<const Value extends number>(records: string, value: Value) {
  return {
    what: `${records} of an organization`,
    value,
    unit: "items",
    beyond: "`conflict`, which names the quota",
  } as const;
}
const HOUR_MS = 3_600_000;

/** Every bound of the service. docs/limits.md is generated from this table. */
export const LIMITS = {
  bodyBytes: {
    what: "The body of a request",
    value: MIB,
    unit: "bytes",
    beyond: "`bad_input`",
  },
  documentDepth: {
    what:
      "Nesting of a JSON document: a configuration, or the value of a patch operation. A stored " +
      "document that is nested deeper stays readable and can be redeployed",
    value: DOCUMENT_DEPTH,
    unit: "levels",
    beyond: "`bad_input`",
  },
  bodyDepth: {
    what: "Nesting of the body of a request",
    // The value of a patch operation is the document below most levels: `{"patch":[{"value":…`.
    value: DOCUMENT_DEPTH + 3,
    unit: "levels",
    beyond: "`bad_input`",
  },
  configurationBytes: {
    what: "The configuration of an environment, as JSON",
    value: 256 * KIB,
    unit: "bytes",
    beyond: "`bad_input`",
  },
  patchOperations: {
    what: "Operations of a patch that a caller sends",
    value: 200,
    unit: "items",
    beyond: "`bad_input`",
  },
  patchBytes: {
    what: "A patch with its `old_value`s, as JSON",
    value: 256 * KIB,
    unit: "bytes",
    beyond:
      "`bad_input`. Redeploy and promote leave out the `old_value`s instead; if the patch is still " +
      "larger, it becomes one `replace` of the whole configuration",
  },
  copiedBytes: {
    what: "What the `copy` operations of a patch copy together, as JSON",
    value: MIB,
    unit: "bytes",
    beyond: "`bad_input`",
  },
  pointerLength: {
    what: "The `path` and the `from` of a patch operation",
    value: 2000,
    unit: "characters",
    beyond: "`bad_input`",
  },
  deploymentStacks: {
    what: "The `stack_ids` of a deployment",
    value: 500,
    unit: "items",
    beyond: "`bad_input`",
  },
  pageBytes: {
    what: "A page of a list, as sent; a page holds at least one record",
    value: MIB,
    unit: "bytes",
    beyond: "the page ends early, with `has_more`; the next pages hold the rest",
  },
  stacksOfEnvironment: {
    what: "Stacks in an environment",
    value: 500,
    unit: "items",
    beyond: CONFLICT,
  },
  variablesOfEnvironment: {
    what: "Variables of an environment, those of its components included",
    value: 1_000,
    unit: "items",
    beyond: CONFLICT,
  },
  variableBytesOfEnvironment: {
    what: "Values of the variables of an environment, decrypted, in total",
    value: MIB,
    unit: "bytes",
    beyond: CONFLICT,
  },
  unfinishedDeployments: {
    what: "Deployments of an environment that are not finished",
    value: 1_000,
    unit: "items",
    beyond: CONFLICT,
  },
  redeployableDeployments: {
    what: "Deployments of an environment that keep their configuration: the newest",
    value: 1_000,
    unit: "items",
    beyond: "an older one that is finished can no longer be redeployed or promoted: `conflict`",
  },
  ownedOrganizations: {
    what: "Organizations that an account owns, when it creates another",
    value: 25,
    unit: "items",
    beyond: CONFLICT,
  },
  apiKeysOfMembership: {
    what: "API keys of a membership",
    value: 100,
    unit: "items",
    beyond: CONFLICT,
  },
  runnerTokensOfPool: {
    what: "Tokens of a runner pool",
    value: 100,
    unit: "items",
    beyond: CONFLICT,
  },
  storedBytes: {
    what:
      "What an organization stores: names, configurations, encrypted variables, deployments, and " +
      "the other fields that callers write",
    value: 1024 * MIB,
    unit: "bytes",
    beyond: CONFLICT,
  },
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
  integrationsPerProject: {
    what: "Notification integrations of a project",
    value: 20,
    unit: "items",
    beyond: "`conflict`",
  },
  changelogEventEntries: {
    what: "Entries in one `changelog.created` event",
    value: 50,
    unit: "items",
    beyond: "the event has the first 50 and the `count` of all; the changelog has every entry",
  },
  changelogEventName: {
    what: "The name of a record in a `changelog.created` event",
    value: 100,
    unit: "characters",
    beyond: "the event has the first 100 characters; the changelog has the whole name",
  },
  deploymentEventStacks: {
    what: "Stacks in one event about a deployment",
    value: 25,
    unit: "items",
    beyond: "the event has the first 25; the deployment has all of them",
  },
  deliveryTimeoutMs: {
    what: "The response to a webhook, up to the end of its body or of what is read of it",
    value: 15_000,
    unit: "ms",
    beyond: "the attempt fails",
  },
  responseReadBytes: {
    what: "What is read of the response to a webhook",
    value: 16 * KIB,
    unit: "bytes",
    beyond: "the rest is not read; the attempt counts",
  },
  responseExcerptBytes: {
    what: "What is kept of the response to a webhook",
    value: KIB,
    unit: "bytes",
    beyond: "the rest is discarded",
  },
  retryAfterMs: {
    what: "`Retry-After` of a webhook's endpoint",
    value: 12 * HOUR_MS,
    unit: "ms",
    beyond: "it counts as 12 h",
  },
  failingMs: {
    what: "Nothing but failures of an integration",
    value: 5 * 24 * HOUR_MS,
    unit: "ms",
    beyond: "the integration is disabled with its next delivery that fails twice",
  },
  deliveryClaims: {
    what: "Claims of a delivery, including those that end without a recorded attempt",
    value: 100,
    unit: "items",
    beyond: "the delivery fails with the reason `too_many_attempts`",
  },
  sweepMs: {
    what: "One run of the sweep for overdue deliveries",
    value: 20_000,
    unit: "ms",
    beyond: "the next run, within a minute, continues",
  },
  sweepDeliveries: {
    what: "Deliveries that one run of the sweep enqueues",
    value: 50_000,
    unit: "items",
    beyond: "the next run, within a minute, continues",
  },
} as const satisfies Record<string, Limit>;

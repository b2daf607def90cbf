/** A bound on what a caller can send, store, or make the service do. */
export interface Limit {
  /** What is bounded, for docs/limits.md. */
  what: string;
  /** In `unit`. */
  value: number;
  unit: "bytes" | "characters" | "levels" | "ms" | "requests" | "rows";
  /** What happens beyond it. */
  beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

const CONFLICT = "`conflict`, which names the limit";

function quota<const Value extends number>(records: string, value: Value) {
  return {
    what: `${records} of an organization`,
    value,
    unit: "rows",
    beyond: "`conflict`, which names the quota",
  } as const;
}

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
    value: 64,
    unit: "levels",
    beyond: "`bad_input`",
  },
  configurationBytes: {
    what: "The configuration of an environment, as JSON",
    value: 256 * KIB,
    unit: "bytes",
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
    unit: "rows",
    beyond: CONFLICT,
  },
  variablesOfEnvironment: {
    what: "Variables of an environment, those of its components included",
    value: 1_000,
    unit: "rows",
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
    unit: "rows",
    beyond: CONFLICT,
  },
  redeployableDeployments: {
    what: "Deployments of an environment that keep their configuration: the newest",
    value: 1_000,
    unit: "rows",
    beyond: "an older one that is finished can no longer be redeployed or promoted: `conflict`",
  },
  ownedOrganizations: {
    what: "Organizations that an account owns, when it creates another",
    value: 25,
    unit: "rows",
    beyond: CONFLICT,
  },
  apiKeysOfMembership: {
    what: "API keys of a membership",
    value: 100,
    unit: "rows",
    beyond: CONFLICT,
  },
  runnerTokensOfPool: {
    what: "Tokens of a runner pool",
    value: 100,
    unit: "rows",
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
} as const satisfies Record<string, Limit>;

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
  integrationsPerProject: {
    what: "Notification integrations of a project",
    value: 20,
    unit: "rows",
    beyond: "`conflict`",
  },
  changelogEventEntries: {
    what: "Entries in one `changelog.created` event",
    value: 50,
    unit: "rows",
    beyond: "The event has the first 50 and the `count` of all; the changelog has every entry",
  },
  changelogEventName: {
    what: "The name of a record in a `changelog.created` event",
    value: 100,
    unit: "characters",
    beyond: "The event has the first 100 characters; the changelog has the whole name",
  },
  deploymentEventStacks: {
    what: "Stacks in one event about a deployment",
    value: 25,
    unit: "rows",
    beyond: "The event has the first 25; the deployment has all of them",
  },
  deliveryTimeoutMs: {
    what: "The response to a webhook, up to the end of its body or of what is read of it",
    value: 15_000,
    unit: "ms",
    beyond: "The attempt fails",
  },
  responseReadBytes: {
    what: "What is read of the response to a webhook",
    value: 16 * KIB,
    unit: "bytes",
    beyond: "The rest is not read; the attempt counts",
  },
  responseExcerptBytes: {
    what: "What is kept of the response to a webhook",
    value: KIB,
    unit: "bytes",
    beyond: "The rest is discarded",
  },
  retryAfterMs: {
    what: "`Retry-After` of a webhook's endpoint",
    value: 12 * HOUR_MS,
    unit: "ms",
    beyond: "It counts as 12 h",
  },
  failingMs: {
    what: "Nothing but failures of an integration",
    value: 5 * 24 * HOUR_MS,
    unit: "ms",
    beyond: "The integration is disabled with its next delivery that fails twice",
  },
  deliveryClaims: {
    what: "Claims of a delivery, including those that end without a recorded attempt",
    value: 100,
    unit: "rows",
    beyond: "The delivery fails with the reason `too_many_attempts`",
  },
  sweepMs: {
    what: "One run of the sweep for overdue deliveries",
    value: 20_000,
    unit: "ms",
    beyond: "The next run, within a minute, continues",
  },
  sweepDeliveries: {
    what: "Deliveries that one run of the sweep enqueues",
    value: 50_000,
    unit: "rows",
    beyond: "The next run, within a minute, continues",
  },
} as const satisfies Record<string, Limit>;

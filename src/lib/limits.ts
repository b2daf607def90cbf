/** A bound on what a caller can send, store, or make the service do. */
export interface Limit {
  /** What is bounded, for docs/limits.md. */
  what: string;
  /** In `unit`. */
  value: number;
  unit:
    | "bytes"
    | "characters"
    | "levels"
    | "ms"
    | "requests"
    | "rows"
    | "times the limit of one key";
  /** What happens beyond it. */
  beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;

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
  organizationRequests: {
    what:
      "Requests of all keys and runner tokens of one organization in any 60 s, for each rate limit " +
      "policy. Below 16 times the limit of one key, no request is refused for the organization",
    value: 20,
    unit: "times the limit of one key",
    beyond: "`rate`, with headers that name the policy `organization`",
  },
  concurrentReads: {
    what: "Requests of one key that are in progress in one isolate when a further read arrives",
    value: 32,
    unit: "requests",
    beyond: "A read asks the rate limiter before it reads the database, as a write does",
  },
  addressRequests: {
    what:
      "Requests from one client address in 60 s without a valid key, or with a key that the " +
      "isolate has not cached",
    value: 300,
    unit: "requests",
    beyond: "`rate`; a key that was used before is still looked up and passes",
  },
} as const satisfies Record<string, Limit>;

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
} as const satisfies Record<string, Limit>;

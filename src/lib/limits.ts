/** A bound on what a caller can send, store, or make the service do. */
export interface Limit {
  /** What is bounded, for docs/limits.md. */
  what: string;
  /** In `unit`. */
  value: number;
  unit: "bytes" | "characters" | "items" | "levels" | "ms" | "requests" | "rows";
  /** What happens beyond it. */
  beyond: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const DOCUMENT_DEPTH = 64;

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
} as const satisfies Record<string, Limit>;

import type { Source } from "../../../packages/runner/src/api-types.ts";
import type { StackInput } from "../../../packages/runner/src/stack-input.ts";

interface Given {
  source?: Source;
  configuration?: unknown;
}

/** What a runner gets of a deployment with one stack, whose ID is 1. */
export function stackInput(name: string, { source, configuration = {} }: Given = {}): StackInput {
  const stack = { id: "1", name, outputs: {} };
  return {
    deployment: { id: "2", patch: [], trigger: "api", ...(source && { source }) },
    project: { id: "3", name: "shop" },
    environment: { id: "4", name: "production" },
    stack,
    stacks: [stack],
    configuration,
  };
}

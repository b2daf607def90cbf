import type { AttemptInput, Deployment, InputStack, Outputs, StartedAttempt } from "./api-types.ts";

/** What `input.json` has: the input of the attempt, and which of its stacks is to be deployed. */
export interface StackInput extends AttemptInput {
  stack: InputStack;
}

/** The input of an attempt, and the outputs of the stacks that have succeeded in it. */
export class RunInput {
  readonly #input: AttemptInput;
  readonly #outputs = new Map<string, Outputs>();

  constructor({ deployment, input }: StartedAttempt) {
    this.#input = input ?? describeDeployment(deployment);
  }

  setOutputs(stackId: string, outputs: Outputs): void {
    this.#outputs.set(stackId, outputs);
  }

  of(stackId: string): StackInput {
    const stacks = this.#input.stacks.map((stack) => ({
      ...stack,
      outputs: this.#outputs.get(stack.id) ?? stack.outputs,
    }));
    const stack = stacks.find(({ id }) => id === stackId) ?? { id: stackId, outputs: {} };
    return { ...this.#input, stack, stacks };
  }
}

/** What a server that is older than `input` says. */
function describeDeployment({ id, environment_id, stack_ids, data }: Deployment): AttemptInput {
  const { patch, source } = data;
  return {
    deployment: { id, patch, ...(source && { source }) },
    ...(environment_id !== undefined && { environment: { id: environment_id } }),
    stacks: stack_ids.map((stackId) => ({ id: stackId, outputs: {} })),
  };
}

import type { AttemptInput, InputStack, Outputs } from "./api-types.ts";

/** What `input.json` has: the input of the attempt, and which of its stacks is to be deployed. */
export interface StackInput extends AttemptInput {
  stack: InputStack;
}

/** The input of an attempt, and the outputs of the stacks that have succeeded in it. */
export class RunInput {
  readonly #input: AttemptInput;
  readonly #outputs = new Map<string, Outputs>();

  constructor(input: AttemptInput) {
    this.#input = input;
  }

  setOutputs(stackId: string, outputs: Outputs): void {
    this.#outputs.set(stackId, outputs);
  }

  of(stack: InputStack): StackInput {
    const stacks = this.#input.stacks.map((each) => this.#withOutputs(each));
    return { ...this.#input, stack: this.#withOutputs(stack), stacks };
  }

  #withOutputs(stack: InputStack): InputStack {
    return { ...stack, outputs: this.#outputs.get(stack.id) ?? stack.outputs };
  }
}

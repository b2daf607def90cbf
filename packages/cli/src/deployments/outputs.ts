import type { Schemas } from "../../../client/src/index.ts";
import type { Session } from "../session.ts";
import { renderColumns } from "../table.ts";
import { readStacks } from "./stack-names.ts";

type Stack = Pick<Schemas["Stack"], "name" | "outputs">;

export interface StackOutput {
  stack: string;
  name: string;
  value: string;
}

const URL_OUTPUT = "url";

/** The URLs first, and else in the order of the stacks. */
export function listOutputs(stacks: readonly Stack[]): StackOutput[] {
  return stacks
    .flatMap(({ name: stack, outputs = {} }) =>
      Object.entries(outputs).map(([name, value]) => ({ stack, name, value })),
    )
    .toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ name }: StackOutput): number {
  return name === URL_OUTPUT ? 0 : 1;
}

/** By name of the stack. Those without outputs are left out. */
export function outputsByStack(
  stacks: readonly Stack[],
): Record<string, NonNullable<Stack["outputs"]>> {
  return Object.fromEntries(
    stacks.flatMap(({ name, outputs }) => (outputs ? [[name, outputs] as const] : [])),
  );
}

/** The stacks of a deployment that has succeeded, in its order. Empty without the right to read them. */
export async function readDeployedStacks(
  session: Session,
  { environment_id, stack_ids }: Pick<Schemas["Deployment"], "environment_id" | "stack_ids">,
): Promise<Schemas["Stack"][]> {
  const byId = new Map(
    (await readStacks(session, environment_id)).map((stack) => [stack.id, stack]),
  );
  return stack_ids.flatMap((id) => byId.get(id) ?? []);
}

/** Lines of name and value, after the name of the stack if the deployment has several. */
export function renderOutputs(stacks: readonly Stack[]): string {
  const outputs = listOutputs(stacks);
  return renderColumns(
    outputs.map(({ stack, name, value }) =>
      stacks.length > 1 ? [stack, name, value] : [name, value],
    ),
  );
}

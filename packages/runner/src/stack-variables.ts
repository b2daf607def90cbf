import type { DeliveredVariable, DeliveredVariables } from "./api-types.ts";

/** The variables of the environment and, over them, those of the stack's own component. */
export function variablesOfStack(
  { variables, stacks }: DeliveredVariables,
  stackId: string,
): DeliveredVariable[] {
  const componentId = stacks.find(({ stack_id }) => stack_id === stackId)?.component_id;
  const ofEnvironment = variables.filter(({ component_id }) => component_id === undefined);
  if (componentId === undefined) return ofEnvironment;
  const ofComponent = variables.filter(({ component_id }) => component_id === componentId);
  const overridden = new Set(ofComponent.map(({ name }) => name));
  return [...ofEnvironment.filter(({ name }) => !overridden.has(name)), ...ofComponent];
}

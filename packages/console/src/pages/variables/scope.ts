import { client, type Schemas } from "../../api.ts";

/** Whose variables a page shows. */
export type VariableScope = { environment: string } | { component: string };

/** The paths of the operations differ, and are otherwise the same. */
export function pathsOf(scope: VariableScope) {
  return "environment" in scope
    ? ({
        list: "/v1/environments/{environment_id}/variables",
        path: { environment_id: scope.environment },
      } as const)
    : ({
        list: "/v1/components/{component_id}/variables",
        path: { component_id: scope.component },
      } as const);
}

export async function createVariable(scope: VariableScope, body: Schemas["VariableInput"]) {
  const { list, ...at } = pathsOf(scope);
  return client.post(list, { ...at, body });
}

export async function putVariables(scope: VariableScope, body: Schemas["PutVariables"]) {
  const { list, ...at } = pathsOf(scope);
  return client.put(list, { ...at, body });
}

/** The audit log records it. */
export async function revealVariables(scope: VariableScope) {
  const { list, ...at } = pathsOf(scope);
  return client.get(`${list}/values`, at);
}

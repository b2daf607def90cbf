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
  if ("environment" in scope) {
    const path = { environment_id: scope.environment };
    return client.post("/v1/environments/{environment_id}/variables", { path, body });
  }
  const path = { component_id: scope.component };
  return client.post("/v1/components/{component_id}/variables", { path, body });
}

export async function putVariables(scope: VariableScope, body: Schemas["PutVariables"]) {
  if ("environment" in scope) {
    const path = { environment_id: scope.environment };
    return client.put("/v1/environments/{environment_id}/variables", { path, body });
  }
  const path = { component_id: scope.component };
  return client.put("/v1/components/{component_id}/variables", { path, body });
}

/** The audit log records it. */
export async function revealVariables(scope: VariableScope) {
  if ("environment" in scope) {
    const path = { environment_id: scope.environment };
    return client.get("/v1/environments/{environment_id}/variables/values", { path });
  }
  const path = { component_id: scope.component };
  return client.get("/v1/components/{component_id}/variables/values", { path });
}

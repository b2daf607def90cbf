/** What variables belong to, as a path names it. */
export interface ScopeReference {
  kind: "environment" | "component";
  id: string;
}

/** Where a variable belongs: to a component, or without one to the environment itself. */
export interface Scope {
  organizationId: string;
  projectId: string;
  environmentId: string;
  componentId: string | null;
}

/** The ID that names are unique under. */
export function scopeIdOf(scope: Scope): string {
  return scope.componentId ?? scope.environmentId;
}

/**
 * The path under which a runner stores a variable at the provider. It is given once: a variable
 * keeps it whatever it is called later.
 */
export function resourceIdOf(scope: Scope, name: string): string {
  const { projectId, environmentId, componentId } = scope;
  return ["", projectId, environmentId, componentId, name]
    .filter((part) => part !== null)
    .join("/");
}

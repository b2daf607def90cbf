import { grantsScope, type Scope } from "../../lib/scopes.ts";

/** What a key may access at most. Null: everything that its role allows. */
export interface Narrowing {
  scopes: readonly Scope[] | null;
  projectIds: readonly string[] | null;
  environmentIds: readonly string[] | null;
}

/** What `requested` has beyond `own`, for an error message. Undefined if it is within. */
export function excessOf(requested: Narrowing, own: Narrowing): string | undefined {
  const scopes = excessScopes(requested.scopes, own.scopes);
  if (scopes) return scopes;
  if (!areWithin(requested.projectIds, own.projectIds)) return "projects that it cannot access";
  if (areWithin(requested.environmentIds, own.environmentIds)) return undefined;
  return "environments that it cannot access";
}

function excessScopes(
  requested: readonly Scope[] | null,
  own: readonly Scope[] | null,
): string | undefined {
  if (own === null) return undefined;
  if (requested === null) return "all scopes";
  const excess = requested.filter((scope) => !grantsScope(own, scope));
  return excess.length > 0 ? `the scope ${excess.join(", ")}` : undefined;
}

function areWithin(requested: readonly string[] | null, own: readonly string[] | null): boolean {
  return own === null || requested?.every((id) => own.includes(id)) === true;
}

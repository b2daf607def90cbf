import type { Actor } from "../../context.ts";
import { grantsScope } from "../../lib/scopes.ts";
import type { TrustInput } from "./model.ts";

/** What of a trust would exceed the key that creates it. Undefined: nothing. */
export function findExcess(
  { scopes, projectIds, environmentIds }: Actor,
  input: Pick<TrustInput, "scopes" | "projectIds" | "environmentIds">,
): string | undefined {
  const isWithinScopes =
    !scopes || input.scopes?.every((scope) => grantsScope(scopes, scope)) === true;
  if (!isWithinScopes) return "Send scopes, and only those of your own key.";
  if (!isWithin(projectIds, input.projectIds)) {
    return "Send project_ids, and only those of your own key.";
  }
  if (!isWithin(environmentIds, input.environmentIds)) {
    return "Send environment_ids, and only those of your own key.";
  }
  return undefined;
}

function isWithin(own: readonly string[] | null, sent: readonly string[] | null): boolean {
  return !own || sent?.every((id) => own.includes(id)) === true;
}

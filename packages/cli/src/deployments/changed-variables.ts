/** How many names a person can read at once. */
const SHOWN = 20;

/** What people are told before a redeployment. The names are undefined for a key that may not read variables. */
export function describeVariables(changed: readonly string[] | undefined): string {
  if (!changed) return "It uses the variables as they are now.";
  if (changed.length === 0) {
    return "It uses the variables as they are now: none has changed since that deployment.";
  }
  const more = changed.length > SHOWN ? ` and ${changed.length - SHOWN} more` : "";
  const shown = changed.slice(0, SHOWN).join(", ");
  return `It uses the variables as they are now. Changed since that deployment: ${shown}${more}.`;
}

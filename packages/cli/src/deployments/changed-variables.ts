/** How many names a person can read at once. */
const SHOWN = 20;

export function listNames(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return names.slice(0, SHOWN).join(", ") + more;
}

/** What people are told before a redeployment. The names are undefined for a key that may not read variables. */
export function describeVariables(changed: readonly string[] | undefined): string {
  if (!changed) return "It uses the variables as they are now.";
  if (changed.length === 0) {
    return "It uses the variables as they are now: none has changed since that deployment.";
  }
  return `It uses the variables as they are now. Changed since that deployment: ${listNames(changed)}.`;
}

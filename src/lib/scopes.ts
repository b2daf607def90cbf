/** What a narrowed key may do, by the type of resource. Source: docs/api-keys.md, "Scopes". */
const SUBJECTS = [
  "organization",
  "members",
  "keys",
  "projects",
  "environments",
  "variables",
  "deployments",
  "integrations",
  "runners",
  "audit",
] as const;

type Subject = (typeof SUBJECTS)[number];
export type Scope = `${Subject}:${"read" | "write"}` | "variables:reveal";

/** All scopes, in the order of the documentation. */
export const SCOPES: readonly Scope[] = SUBJECTS.flatMap((subject): Scope[] =>
  subject === "variables"
    ? ["variables:read", "variables:write", "variables:reveal"]
    : [`${subject}:read`, `${subject}:write`],
);

/** Whether one of the scopes grants `needed`: `write` includes `read`. */
export function grantsScope(scopes: readonly Scope[], needed: Scope): boolean {
  if (scopes.includes(needed)) return true;
  const [subject, access] = needed.split(":");
  return access === "read" && scopes.some((scope) => scope === `${subject}:write`);
}

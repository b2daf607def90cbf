/** Roles in ascending order: each has the permissions of those before it. */
export const ORG_ROLES = ["member", "admin", "owner"] as const;
export const PROJECT_ROLES = ["viewer", "contributor", "owner"] as const;

export type OrgRole = (typeof ORG_ROLES)[number];
export type ProjectRole = (typeof PROJECT_ROLES)[number];

export function orgRoleReaches(role: OrgRole, needed: OrgRole): boolean {
  return ORG_ROLES.indexOf(role) >= ORG_ROLES.indexOf(needed);
}

export function projectRoleReaches(role: ProjectRole, needed: ProjectRole): boolean {
  return PROJECT_ROLES.indexOf(role) >= PROJECT_ROLES.indexOf(needed);
}

export function lowerOrgRole(a: OrgRole, b: OrgRole): OrgRole {
  return orgRoleReaches(a, b) ? b : a;
}

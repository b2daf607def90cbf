import {
  type OrgRole,
  orgRoleReaches,
  type ProjectRole,
  projectRoleReaches,
} from "../../../src/lib/roles.ts";
import { grantsScope, type Scope } from "../../../src/lib/scopes.ts";
import { ApiError } from "./api.ts";
import { ACCESS, type OperationId } from "./generated/access.ts";
import { useQuery } from "./query.ts";
import { currentWho } from "./session.ts";

interface Needed {
  /** The role in the organization. */
  organization?: "admin" | "owner";
  project?: ProjectRole;
  scope?: Scope;
  /** Whether it needs a full credential. */
  full?: true;
}

/**
 * Whether the session's role and scopes allow an operation. `projectRole` is the person's role in the
 * project that the operation concerns. The service decides; this only hides what it would refuse.
 */
export function can(operation: OperationId, projectRole?: ProjectRole): boolean {
  const { credential } = currentWho();
  const needed: Needed = ACCESS[operation];
  if (needed.full && !credential.full) return false;
  if (needed.scope && credential.scopes && !grantsScope(credential.scopes, needed.scope)) {
    return false;
  }
  if (needed.organization) return orgRoleReaches(credential.role, needed.organization);
  if (!needed.project || orgRoleReaches(credential.role, "admin")) return true;
  return projectRole !== undefined && projectRoleReaches(projectRole, needed.project);
}

/** The roles that the session can give to a member: only a full credential gives a higher one. */
export function rolesFrom<T extends readonly [OrgRole, string]>(
  roles: readonly T[],
  current: OrgRole,
): readonly T[] {
  const { full } = currentWho().credential;
  return roles.filter(([role]) => full || orgRoleReaches(current, role));
}

export type Can = (operation: OperationId) => boolean;

/** `can` in a project. Allows nothing that needs a role until the role is known. */
export function useCan(projectId: string | undefined): Can {
  const { credential, membership } = currentWho();
  const needsRole = !orgRoleReaches(credential.role, "admin") && projectId !== undefined;
  const { data } = useQuery(
    needsRole ? "/v1/projects/{project_id}/members/{member_id}" : undefined,
    { path: { project_id: projectId ?? "", member_id: membership.id } },
  );
  return (operation) => can(operation, data?.role);
}

export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "forbidden" || error.code === "unauthorized");
}

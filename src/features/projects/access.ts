import type { Actor } from "../../context.ts";
import { Forbidden, NotFound } from "../../lib/errors.ts";
import { orgRoleReaches, type ProjectRole, projectRoleReaches } from "../../lib/roles.ts";

/** Something of a project, and the role in that project of the one who asks. */
export interface WithMemberRole {
  memberRole: ProjectRole | null;
}

/**
 * What was found, if the actor may do in its project what takes the role `needed`. An admin of the
 * organization may do everything in its projects. `what` names the thing, should there be none.
 */
export function authorize<Found extends WithMemberRole>(
  actor: Actor,
  what: string,
  found: Found | undefined,
  needed: ProjectRole,
): Found {
  if (!found) throw new NotFound(what);
  const { memberRole } = found;
  const reaches = memberRole !== null && projectRoleReaches(memberRole, needed);
  if (!reaches && !orgRoleReaches(actor.role, "admin")) throw new Forbidden(needed);
  return found;
}

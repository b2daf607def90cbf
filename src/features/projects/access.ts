import type { Actor } from "../../context.ts";
import { Forbidden, NotFound } from "../../lib/errors.ts";
import { orgRoleReaches, type ProjectRole, projectRoleReaches } from "../../lib/roles.ts";
import type { ProjectRow, ProjectWithRole } from "./store.ts";

/**
 * The project, if the actor may do in it what takes the role `needed`. An admin of the organization
 * may do everything in its projects.
 */
export function authorize(
  actor: Actor,
  found: ProjectWithRole | undefined,
  needed: ProjectRole,
): ProjectRow {
  if (!found) throw new NotFound("project");
  const { memberRole, ...project } = found;
  const reaches = memberRole !== null && projectRoleReaches(memberRole, needed);
  if (!reaches && !orgRoleReaches(actor.role, "admin")) throw new Forbidden(needed);
  return project;
}

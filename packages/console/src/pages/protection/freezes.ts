import type { Schemas } from "../../api.ts";
import { useList } from "../../query.ts";
import { currentWho } from "../../session.ts";

/** Upcoming, active or over. */
export function stateOf({ starts_at, ends_at }: Schemas["Freeze"]): string {
  const now = Date.now();
  if (now < Date.parse(starts_at)) return "upcoming";
  return now < Date.parse(ends_at) ? "active" : "over";
}

/** Whether every freeze that holds the deployment lets the person override it. */
export function useNamedByFreezes(
  { environment_id }: Schemas["Deployment"],
  isAsked: boolean,
  projectId: string | undefined,
): boolean {
  const { membership, organization } = currentWho();
  const isRead = isAsked && projectId !== undefined;
  const ofOrganization = useList(isRead ? "/v1/orgs/{org_id}/freezes" : undefined, {
    path: { org_id: organization.id },
  });
  const ofProject = useList(isRead ? "/v1/projects/{project_id}/freezes" : undefined, {
    path: { project_id: projectId ?? "" },
  });
  if (!ofOrganization.items || !ofProject.items) return false;
  const holding = [...ofOrganization.items, ...ofProject.items].filter(
    (freeze) =>
      stateOf(freeze) === "active" && (freeze.environment_ids?.includes(environment_id) ?? true),
  );
  return holding.length > 0 && holding.every(({ override }) => override.includes(membership.id));
}

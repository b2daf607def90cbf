import { can } from "../../access.ts";
import type { Schemas } from "../../api.ts";
import { showHidden } from "../../format.ts";
import { readAll, useQuery, useReadOnce } from "../../query.ts";
import { currentWho } from "../../session.ts";

/** Those whom the session can read: of the organization, or else of the project. */
export function useMembers(projectId: string | undefined) {
  return useReadOnce(async () => {
    const members: readonly Schemas["ProjectMember" | "Member"][] = can("listMembers")
      ? await readAll("/v1/orgs/{org_id}/members", {
          path: { org_id: currentWho().organization.id },
        })
      : await readProjectMembers(projectId);
    return members.map((member) => ({
      id: member.membership_id,
      name: nameOf(member),
      kind: "kind" in member ? member.kind : "person",
    }));
  });
}

async function readProjectMembers(projectId: string | undefined) {
  return projectId === undefined
    ? []
    : readAll("/v1/projects/{project_id}/members", { path: { project_id: projectId } });
}

function nameOf({ display_name, name }: { display_name: string; name: string }): string {
  return showHidden(display_name || name);
}

/** The name of a member. The ID if the session cannot read it. */
export function useMemberName(id: string, projectId: string | undefined): string {
  const isAdmin = can("getMember");
  const ofOrganization = useQuery(isAdmin ? "/v1/orgs/{org_id}/members/{member_id}" : undefined, {
    path: { org_id: currentWho().organization.id, member_id: id },
  });
  const ofProject = useQuery(
    !isAdmin && projectId ? "/v1/projects/{project_id}/members/{member_id}" : undefined,
    { path: { project_id: projectId ?? "", member_id: id } },
  );
  const found = ofOrganization.data ?? ofProject.data;
  return found ? nameOf(found) : id;
}

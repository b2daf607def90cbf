import { orgRoleReaches, projectRoleReaches } from "../../../../src/lib/roles.ts";
import type { Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import type { Session } from "../session.ts";
import { readDeployment } from "./find-deployment.ts";

type Deployment = Schemas["Deployment"];
type Approvers = Schemas["EnvironmentMembers"];

/**
 * Refuses an approval that the service would refuse, before the person reads what they would approve.
 *
 * @throws CliError with the reason, and whom to ask.
 */
export async function requireApprover(session: Session, id: string): Promise<void> {
  const { organization, membership } = await session.whoAmI();
  const { data: pending } = await session.client.get("/v1/orgs/{org_id}/approvals", {
    path: { org_id: organization.id },
    query: { deployment_id: id },
  });
  if (pending.length > 0) return;
  // A list of deployments does not say what they wait for.
  const deployment = await readDeployment(session, id);
  if (!deployment.waiting_for?.some(({ code }) => code === "approvals")) return;
  const { data: decisions } = await session.client.get(
    "/v1/deployments/{deployment_id}/approvals",
    { path: { deployment_id: id } },
  );
  if (decisions.some(({ membership_id }) => membership_id === membership.id)) return;
  const reason = await explainRefusal(session, deployment);
  if (reason) throw new CliError(`Deployment ${id} waits for approval, but ${reason}`);
}

/** Undefined: only the service knows, such as that the creator has invited the person. */
async function explainRefusal(
  session: Session,
  { id, environment_id, created_by }: Deployment,
): Promise<string | undefined> {
  const { membership, credential } = await session.whoAmI();
  const { own, scopes, project_ids, environment_ids } = credential;
  const isOwn = created_by?.membership_id === membership.id;
  const isNarrow = !own || scopes || project_ids || environment_ids;
  if (isNarrow && !isOwn) {
    return `this API key can't approve. Sign in and approve it there: ${session.linkToApproval(id)}`;
  }
  const path = { environment_id };
  const [{ approvals: rule }, { project_id }] = await Promise.all([
    session.client.get("/v1/environments/{environment_id}/protection", { path }),
    session.client.get("/v1/environments/{environment_id}", { path }),
  ]);
  if (!rule) return undefined;
  const { approvers, prevent_self_approval } = rule;
  const isRefused = isOwn && prevent_self_approval;
  if (!isRefused && (await isApprover(session, project_id, approvers))) return undefined;
  const why = isRefused ? "approve your own deployment" : "approve it";
  return `you can't ${why}. Ask ${await nameApprovers(session, project_id, approvers)}.`;
}

async function isApprover(
  session: Session,
  project_id: string,
  { role, membership_ids: ids }: Approvers,
): Promise<boolean> {
  const { membership, credential } = await session.whoAmI();
  if (ids) return ids.includes(membership.id);
  if (orgRoleReaches(credential.role, "admin")) return true;
  const member = await session.client.get("/v1/projects/{project_id}/members/{member_id}", {
    path: { project_id, member_id: membership.id },
  });
  return projectRoleReaches(member.role, role ?? "owner");
}

/** Other people than the caller. */
async function nameApprovers(
  session: Session,
  project_id: string,
  { role = "owner", membership_ids: ids }: Approvers,
): Promise<string> {
  const { membership } = await session.whoAmI();
  const names: string[] = [];
  if (ids) {
    const path = { project_id };
    const members = session.client.list("/v1/projects/{project_id}/members", { path });
    for await (const { membership_id, display_name, name } of members) {
      const isNamed = ids.includes(membership_id) && membership_id !== membership.id;
      if (isNamed) names.push(display_name || name);
    }
  }
  return names.length > 0 ? names.join(" or ") : `a project ${role} or an organization admin`;
}

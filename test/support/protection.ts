import { env } from "cloudflare:workers";
import type { VerifiedSource } from "../../src/features/deployments/conditions/model.ts";
import type { Client, Parsed, Reply } from "./client.ts";
import { claim } from "./runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newServiceAccount,
  type Person,
  type Pool,
  type World,
} from "./world.ts";

export interface ProtectedEnvironment {
  world: World;
  project: Parsed;
  environmentId: string;
  pool: Pool;
}

/** A member of the organization with a role in the project, and a key of their own, who has signed in. */
export async function joinProject(
  world: World,
  projectId: string,
  role: "viewer" | "contributor" | "owner",
): Promise<Person> {
  const person = await join(world);
  await world.client.post(`/v1/projects/${projectId}/members`, {
    member_ids: [person.membershipId],
    role,
  });
  await proveIdentity(person);
  return person;
}

/** Like a sign-in with OpenID Connect. */
export async function proveIdentity({ membershipId }: Pick<Person, "membershipId">): Promise<void> {
  const statement = "update memberships set signed_in_at = created_at where id = ?";
  await env.DB.prepare(statement).bind(membershipId).run();
}

export const GITHUB_SOURCE = {
  issuer: "https://token.actions.githubusercontent.com",
  trust_id: "1".repeat(22),
  repository_id: "74",
  ref: "refs/heads/main",
  sha: "a".repeat(40),
} satisfies VerifiedSource;

/** A contributor with the key of a trust, as the exchange of a token makes it. */
export async function newJob(
  world: World,
  projectId: string,
  source: VerifiedSource | null,
): Promise<Client> {
  const membershipId = await newServiceAccount(world);
  await world.client.post(`/v1/projects/${projectId}/members`, {
    member_ids: [membershipId],
    role: "contributor",
  });
  const { client, keyId } = await newKey(world, { membershipId, role: "member" });
  await env.DB.prepare("update api_keys set claims = ?2, trust_id = ?1 where id = ?1")
    .bind(keyId, source && JSON.stringify({ repository: "acme/shop", source }))
    .run();
  return client;
}

export async function newProtectedEnvironment(
  world: World,
  rules: object,
): Promise<ProtectedEnvironment> {
  const { project, environmentId, pool } = await newDeployableProject(world);
  await protect(world.client, environmentId, rules);
  return { world, project, environmentId, pool };
}

export async function protect(client: Client, environmentId: string, rules: object): Promise<void> {
  const reply = await client.put(`/v1/environments/${environmentId}/protection`, rules);
  if (reply.status !== 200) throw new Error(`The rules were not set: ${reply.text}`);
}

export const approve = (
  client: Client,
  deploymentId: string,
  fields: object = {},
): Promise<Reply> =>
  client.post(`/v1/deployments/${deploymentId}/approvals`, { decision: "approve", ...fields });

export const reject = (client: Client, deploymentId: string, comment?: string): Promise<Reply> =>
  client.post(`/v1/deployments/${deploymentId}/approvals`, { decision: "reject", comment });

/** The ID of the deployment that a runner gets. Undefined: none. */
export async function claimedBy({ runner }: Pool): Promise<string | undefined> {
  const { body } = await claim(runner);
  return body?.deployment.id;
}

/** Adds an environment with rules, an approval of a deployment there, which is canceled, and a freeze. */
export async function addProtection(world: World, projectId: string): Promise<void> {
  const { client } = await newKey(world, { isOwn: true });
  const environments = `/v1/projects/${projectId}/environments`;
  const { body } = await client.post(environments, { name: `protected-${crypto.randomUUID()}` });
  await protect(client, body.id, {
    approvals: { required: 2, approvers: { role: "owner" }, prevent_self_approval: false },
  });
  const deployment = await newDeployment(client, body.id);
  await approve(client, deployment.id, { comment: "Ü" });
  await client.patch(`/v1/deployments/${deployment.id}/cancel`);
  await client.post(`/v1/projects/${projectId}/freezes`, newFreeze());
}

export const newFreeze = (fields: object = {}): object => ({
  name: "Black Friday",
  reason: "The busiest days of the year",
  starts_at: "2099-11-26T00:00:00.000Z",
  ends_at: "2099-11-30T00:00:00.000Z",
  ...fields,
});

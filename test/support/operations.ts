import { env } from "cloudflare:workers";
import { hmacHex } from "../../src/lib/digest.ts";
import type { Operation } from "./contract.ts";
import { createMissing, type Ids, pathWith } from "./created.ts";
import { newDelivery, newIntegration, newRecovery } from "./integrations.ts";
import { Attempt } from "./runner.ts";
import { copiesOf } from "./template.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newInside,
  newInvitation,
  newResource,
  newServiceAccount,
  newToken,
  newTrust,
  newWorld,
  signIn,
  type World,
} from "./world.ts";

export { type Ids, pathWith } from "./created.ts";

/**
 * An ID for every path parameter, all of one organization, with a runner token and a lease token.
 * Most of the records have a sibling of the same type.
 */
export async function newIds(world: World): Promise<Ids> {
  const { project, environmentId, pool } = await newDeployableProject(world);
  const [member, other] = [await join(world), await join(world, "admin")];
  await world.client.post(`/v1/projects/${project.id}/members`, {
    member_ids: [member.membershipId, other.membershipId],
  });
  const inside = await newInside(world.client, environmentId);
  await newResource(String((await newInside(world.client, environmentId))["stack_id"]));
  const deployment = await newDeployment(world.client, environmentId);
  const attempt = await Attempt.started(pool.runner);
  const integration = await newIntegration(world.client, project.id);
  const subscribed = await newIntegration(world.client, project.id, ["promotions", "services_ok"]);
  await newDelivery(subscribed.id, { status: "failed" });
  await newToken(world, pool);
  const invitation = await newInvitation(world);
  const serviceAccountId = await newServiceAccount(world);
  await newServiceAccount(world, "admin");
  await newTrust(world, { poolId: pool.id });
  const ids = {
    ...inside,
    deployment_id: deployment.id,
    resource_id: await newResource(String(inside["stack_id"])),
    attempt_id: attempt.claimed.attempt_id,
    lease: attempt.claimed.lease_token,
    runner: String(pool.runner.key),
    pool_id: pool.id,
    token_id: pool.tokenId,
    org_id: world.id,
    project_id: project.id,
    integration_id: integration.id,
    delivery_id: await newDelivery(integration.id),
    recovery_id: await newRecovery(integration.id),
    member_id: member.membershipId,
    membership_id: serviceAccountId,
    trust_id: await newTrust(world, { membershipId: serviceAccountId }),
    key_id: member.keyId,
    invitation_id: invitation.id,
    session_id: (await signIn(world)).sessionId,
    member_session_id: (await signIn(member)).sessionId,
    token: invitation.token,
    name: "api-5xx",
    page: "projects",
    guide: "variables",
  };
  return { ...ids, ...(await createMissing(world.client, ids)) };
}

const newOriginal = copiesOf(async () => {
  const world = await newWorld();
  return { world, ids: await newIds(world) };
});

/** An organization with these IDs. */
export async function newWorldWithIds(): Promise<{ world: World; ids: Ids }> {
  const { world, ids } = await newOriginal();
  return {
    world,
    ids: { ...ids, lease: await hmacHex(env.LEASE_SECRET, String(ids["attempt_id"])) },
  };
}

/** A valid request of the only operation with a text body. */
export function textRequest(operation: Operation, ids: Ids) {
  return {
    path: `${pathWith(operation, ids)}?offset=0&stack_id=${ids["stack_id"]}`,
    body: "one line\n",
    headers: { "content-type": "text/plain" },
  };
}

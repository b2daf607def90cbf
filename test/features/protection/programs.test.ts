import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, type Parsed } from "../../support/client.ts";
import { newFreeze, newProtectedEnvironment } from "../../support/protection.ts";
import {
  newDeployment,
  newKey,
  newServiceAccount,
  newWorld,
  signIn,
  type World,
} from "../../support/world.ts";

const RULES = { approvals: { required: 1, approvers: { role: "owner" } } };
const TABLES = ["environment_protections", "deployment_approvals", "freezes", "deployments"];

let world: World;
let project: Parsed;
let environmentId: string;
let deploymentId: string;
let freezeId: string;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId } = await newProtectedEnvironment(world, RULES));
  const { client } = await newKey(world, {
    membershipId: await newServiceAccount(world, "admin"),
    role: "admin",
  });
  deploymentId = (await newDeployment(client, environmentId)).id;
  const { body } = await world.client.post(`/v1/projects/${project.id}/freezes`, newFreeze());
  freezeId = body.id;
});

type Request = [method: string, path: string, body?: object];

const requests = (): Request[] => [
  ["PUT", `/v1/environments/${environmentId}/protection`, {}],
  ["POST", `/v1/deployments/${deploymentId}/approvals`, { decision: "approve" }],
  ["POST", `/v1/deployments/${deploymentId}/approvals`, { decision: "reject" }],
  ["POST", `/v1/deployments/${deploymentId}/override`, { reason: "x", conditions: ["approvals"] }],
  ["POST", `/v1/orgs/${world.id}/freezes`, newFreeze()],
  ["POST", `/v1/projects/${project.id}/freezes`, newFreeze()],
  ["DELETE", `/v1/freezes/${freezeId}`],
  ["PATCH", `/v1/environments/${environmentId}`, { name: "renamed" }],
  ["DELETE", `/v1/environments/${environmentId}`],
  ["DELETE", `/v1/projects/${project.id}`],
];

async function stored(): Promise<unknown[]> {
  const rows = TABLES.map((table) =>
    env.DB.prepare(`select * from ${table} where organization_id = ? order by id`)
      .bind(world.id)
      .all(),
  );
  return (await Promise.all(rows)).map(({ results }) => results);
}

/** The credentials that this one can make, with those that they can make. */
async function chainOf(client: Client, depth: number): Promise<Client[]> {
  if (depth === 0) return [client];
  const { body: self } = await client.get("/v1/whoami");
  const keys = `/v1/orgs/${world.id}/api-keys`;
  const made = await Promise.all([
    client.post(keys, { name: "own" }),
    client.post(keys, { name: "of the owner", membership_id: world.membershipId }),
    client.post(`${keys}/${self.key_id}/rotate`, { overlap_seconds: 3_600 }),
  ]);
  const secrets = made.map(({ body }) => body?.key).filter((key) => typeof key === "string");
  const session = await signIn({ client }).catch(() => undefined);
  const next = secrets.map((key) => chainOf(new Client(key), depth - 1));
  return [client, ...(session ? [session.client] : []), ...(await Promise.all(next)).flat()];
}

const PROGRAMS: Record<string, () => Promise<Client>> = {
  "the key of a service account with the role of an admin": async () =>
    (await newKey(world, { membershipId: await newServiceAccount(world, "admin"), role: "admin" }))
      .client,
  "a key that somebody else has made for an owner": async () =>
    (await newKey(world, { isOwn: false })).client,
  "the key of a trust": async () => {
    const made = await newKey(world, {
      membershipId: await newServiceAccount(world, "admin"),
      role: "admin",
    });
    await env.DB.prepare("update api_keys set trust_id = id where id = ?").bind(made.keyId).run();
    return made.client;
  },
  "an owner's key that is narrowed by scopes": async () =>
    (await newKey(world, { scopes: ["deployments:write", "environments:write", "keys:write"] }))
      .client,
  "an owner's key that is narrowed to the project": async () =>
    (await newKey(world, { projectIds: [project.id] })).client,
};

describe("no program approves, overrides, or changes rules and freezes", () => {
  it.each(Object.entries(PROGRAMS))("with %s, or what it makes", async (_, newProgram) => {
    const credentials = await chainOf(await newProgram(), 2);
    const before = await stored();
    for (const client of credentials) {
      for (const [method, path, body] of requests()) {
        const { status, text } = await client.request(method, path, body);
        expect([method, path, status], text).toEqual([method, path, status === 404 ? 404 : 403]);
      }
    }
    expect(await stored()).toEqual(before);
  });

  it("and a person may with a key of their own", async () => {
    const { client } = await newKey(world, { isOwn: true });
    const send = async (some: Request[]) => {
      for (const [method, path, body] of some) {
        const { status, text } = await client.request(method, path, body);
        expect([method, path, status], text).not.toEqual([method, path, 403]);
      }
    };
    await send(requests().slice(0, -2));
    const { body: rules } = await client.get(`/v1/environments/${environmentId}/protection`);
    expect(rules).not.toHaveProperty("approvals");
    expect((await client.get(`/v1/freezes/${freezeId}`)).status).toBe(404);
    const { body } = await client.get(`/v1/deployments/${deploymentId}`);
    expect(body.failure_reason).toBe("rejected");
    await send(requests().slice(-2));
  });
});

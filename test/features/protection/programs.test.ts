import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client } from "../../support/client.ts";
import { newFreeze } from "../../support/protection.ts";
import { useShop } from "../../support/shop.ts";
import { newKey, newServiceAccount, signIn } from "../../support/world.ts";

const RULES = { approvals: { required: 1, approvers: { role: "owner" } } };
const TABLES = ["environment_protections", "deployment_approvals", "freezes", "deployments"];

type Request = [method: string, path: string, body?: object];

const shop = useShop(RULES);
let deploymentId: string;
let freezeId: string;

beforeEach(async () => {
  const membershipId = await newServiceAccount(shop.world, "admin");
  const program = await newKey(shop.world, { membershipId, role: "admin" });
  deploymentId = (await shop.deploy({}, program)).id;
  freezeId = (await shop.freeze({ starts_at: "2099-11-26T00:00:00.000Z" })).body.id;
});

const requests = (): Request[] => [
  ["PUT", `/v1/environments/${shop.environmentId}/protection`, {}],
  ["POST", `/v1/deployments/${deploymentId}/approvals`, { decision: "approve" }],
  ["POST", `/v1/deployments/${deploymentId}/approvals`, { decision: "reject" }],
  ["POST", `/v1/deployments/${deploymentId}/override`, { reason: "x", conditions: ["approvals"] }],
  ["POST", `/v1/orgs/${shop.world.id}/freezes`, newFreeze()],
  ["POST", `/v1/projects/${shop.project.id}/freezes`, newFreeze()],
  ["DELETE", `/v1/freezes/${freezeId}`],
  ["PATCH", `/v1/environments/${shop.environmentId}`, { name: "renamed" }],
  ["DELETE", `/v1/environments/${shop.environmentId}`],
  ["DELETE", `/v1/projects/${shop.project.id}`],
];

async function stored(): Promise<unknown[]> {
  const rows = TABLES.map((table) =>
    env.DB.prepare(`select * from ${table} where organization_id = ? order by id`)
      .bind(shop.world.id)
      .all(),
  );
  return (await Promise.all(rows)).map(({ results }) => results);
}

/** The credentials that this one can make, with those that they can make. */
async function chainOf(client: Client, depth: number): Promise<Client[]> {
  if (depth === 0) return [client];
  const { body: self } = await client.get("/v1/whoami");
  const keys = `/v1/orgs/${shop.world.id}/api-keys`;
  const made = await Promise.all([
    client.post(keys, { name: "own" }),
    client.post(keys, { name: "of the owner", membership_id: shop.world.membershipId }),
    client.post(`${keys}/${self.key_id}/rotate`, { overlap_seconds: 3_600 }),
  ]);
  const secrets = made.map(({ body }) => body?.key).filter((key) => typeof key === "string");
  const session = await signIn({ client }).catch(() => undefined);
  const next = secrets.map((key) => chainOf(new Client(key), depth - 1));
  return [client, ...(session ? [session.client] : []), ...(await Promise.all(next)).flat()];
}

const PROGRAMS: Record<string, () => Promise<Client>> = {
  "the key of a service account with the role of an admin": async () =>
    (
      await newKey(shop.world, {
        membershipId: await newServiceAccount(shop.world, "admin"),
        role: "admin",
      })
    ).client,
  "a key that somebody else has made for an owner": async () =>
    (await newKey(shop.world, { isOwn: false })).client,
  "the key of a trust": async () => {
    const made = await newKey(shop.world, {
      membershipId: await newServiceAccount(shop.world, "admin"),
      role: "admin",
    });
    await env.DB.prepare("update api_keys set trust_id = id where id = ?").bind(made.keyId).run();
    return made.client;
  },
  "an owner's key that is narrowed by scopes": async () =>
    (
      await newKey(shop.world, {
        scopes: ["deployments:write", "environments:write", "keys:write"],
      })
    ).client,
  "an owner's key that is narrowed to the project": async () =>
    (await newKey(shop.world, { projectIds: [shop.project.id] })).client,
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
});

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client } from "../support/client.ts";
import { join, newKey, newProject, newWorld, type Person, type World } from "../support/world.ts";

const HOUR_MS = 3_600_000;

let world: World;
let keys: string;
let members: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
  members = `/v1/orgs/${world.id}/members`;
});

function revoke(keyId: string, by: Pick<Person, "client"> = world) {
  return by.client.delete(`${keys}/${keyId}`);
}

describe("the last owner's key of an organization", () => {
  it("cannot be revoked until there is another, and the error says how to create one", async () => {
    const refused = await revoke(world.keyId);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "conflict" });
    expect(refused.body.message).toContain("POST /v1/orgs/{org_id}/api-keys");
    const { body: another } = await world.client.post(keys, { name: "another", role: "owner" });
    const path = `${keys}/${world.keyId}?descendants=keep`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await world.client.get(keys)).status).toBe(401);
    expect((await new Client(another.key).get(keys)).status).toBe(200);
  });

  it("is counted without keys that expire, have a lower role, or belong to a member or to another organization", async () => {
    const admin = await join(world, "admin");
    await newKey(world, { expiresAt: Date.now() + HOUR_MS });
    await newKey(world, { role: "admin" });
    // Its role is above that of its membership, as after a demotion.
    await newKey(world, { membershipId: admin.membershipId, role: "owner" });
    await newWorld();
    expect((await revoke(world.keyId)).status).toBe(409);
    expect((await revoke(admin.keyId)).status).toBe(204);
  });

  it("is neither a narrowed one nor that of a session: they do not count, and can always be revoked", async () => {
    const project = await newProject(world.client);
    const others = await Promise.all([
      newKey(world, { scopes: ["keys:write"] }),
      newKey(world, { projectIds: [project.id] }),
      newKey(world, { environmentIds: [project.default_environment_id] }),
      newKey(world),
    ]);
    const ofSession = others.at(-1)?.keyId ?? "";
    await env.DB.prepare("update api_keys set session_id = id where id = ?").bind(ofSession).run();
    expect((await revoke(world.keyId)).status).toBe(409);
    const second = await newKey(world);
    const { client } = await newKey(world, { expiresAt: Date.now() + HOUR_MS });
    for (const { keyId } of [world, ...others.slice(0, -1)]) {
      expect((await revoke(keyId, { client })).status).toBe(204);
    }
    expect((await revoke(second.keyId, { client })).status).toBe(409);
    await env.DB.prepare("update api_keys set expires_at = 1 where id = ?")
      .bind(second.keyId)
      .run();
    const narrowed = await newKey(world, { scopes: ["keys:write"] });
    expect((await revoke(narrowed.keyId, { client })).status).toBe(204);
  });

  it("cannot be an expiring one, if no other remains, and an expired one can always be revoked", async () => {
    const expiring = await newKey(world, { expiresAt: Date.now() + HOUR_MS });
    const second = await newKey(world, { expiresAt: Date.now() + HOUR_MS });
    const expired = await newKey(world, { expiresAt: Date.now() - 1 });
    expect((await revoke(second.keyId)).status).toBe(204);
    await newKey(world);
    expect((await revoke(world.keyId, expiring)).status).toBe(204);
    expect((await revoke(expired.keyId, expiring)).status).toBe(204);
    expect((await revoke(expiring.keyId, expiring)).status).toBe(204);
  });

  it("remains when the last two are revoked at the same time", async () => {
    for (let round = 0; round < 5; round += 1) {
      const organization = await newWorld();
      const other = await newKey(organization);
      // Not counted, and still valid after either key is revoked.
      const { client } = await newKey(organization, { expiresAt: Date.now() + HOUR_MS });
      const replies = await Promise.all(
        [organization, other].map(({ keyId }) =>
          client.delete(`/v1/orgs/${organization.id}/api-keys/${keyId}`),
        ),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    }
  });

  it("remains when an owner is removed or demoted, until another owner has a key", async () => {
    const { body: second } = await world.client.post(members, {
      email: `${crypto.randomUUID()}@example.com`,
      name: "Second",
      role: "owner",
    });
    const first = `${members}/${world.membershipId}`;
    for (const refused of [
      await world.client.delete(first),
      await world.client.put(first, { role: "admin" }),
    ]) {
      expect(refused.status).toBe(409);
      expect(refused.body.message).toContain("POST /v1/orgs/{org_id}/api-keys");
    }
    const membershipId = String(second.membership_id);
    const other = await newKey(world, { membershipId });
    expect((await other.client.put(first, { role: "admin" })).status).toBe(200);
    expect((await world.client.get(members)).status).toBe(200);
    expect((await other.client.delete(first)).status).toBe(204);
    expect((await world.client.get(members)).status).toBe(401);
  });

  it("does not protect an owner who has no key", async () => {
    const { body: second } = await world.client.post(members, {
      email: `${crypto.randomUUID()}@example.com`,
      name: "Second",
      role: "owner",
    });
    expect((await world.client.delete(`${members}/${second.membership_id}`)).status).toBe(204);
  });
});

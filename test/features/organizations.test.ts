import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { API_KEY_PATTERN } from "../../src/auth/credentials.ts";
import { encodeCursor } from "../../src/lib/cursor.ts";
import { Client } from "../support/client.ts";
import {
  join,
  newEmail,
  newKey,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../support/world.ts";

let world: World;
let members: string;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  members = `/v1/orgs/${world.id}/members`;
  keys = `/v1/orgs/${world.id}/api-keys`;
});

describe("organizations", () => {
  it("are created with an owner and a first key, which is valid for that organization only", async () => {
    const { status, body } = await world.client.post("/v1/orgs", { name: "Beta" });
    expect(status).toBe(201);
    expect(body.api_key).toMatchObject({ role: "owner", org_id: body.id });
    expect(body.api_key.key).toMatch(API_KEY_PATTERN);
    expect(body.api_key.key.endsWith(body.api_key.last_four)).toBe(true);
    const owner = new Client(body.api_key.key);
    expect((await owner.get("/v1/orgs")).body.data).toMatchObject([{ id: body.id, name: "Beta" }]);
    expect((await owner.get(members)).status).toBe(404);
    expect((await world.client.get(`/v1/orgs/${body.id}/members`)).status).toBe(404);
    const [owned] = (await owner.get(`/v1/orgs/${body.id}/members`)).body.data;
    expect(owned).toMatchObject({ account_id: world.accountId, role: "owner" });
  });

  it("can be created by any member", async () => {
    const { client } = await join(world);
    expect((await client.post("/v1/orgs", { name: "Gamma" })).status).toBe(201);
  });

  it("are created by people: not by a service account, nor with a key from a trust, which is recorded", async () => {
    const admin = await join(world, "admin");
    const bot = await newKey(world, {
      membershipId: await newServiceAccount(world, "admin"),
      role: "admin",
    });
    const trustId = await newTrust(world, { membershipId: admin.membershipId });
    const ofTrust = await newKey(world, { ...admin, role: "admin" });
    await env.DB.prepare("update api_keys set trust_id = ?, expires_at = ? where id = ?")
      .bind(trustId, Date.now() + 900_000, ofTrust.keyId)
      .run();
    const child = (await ofTrust.client.post(keys, { name: "child" })).body;
    const grandchild = (await new Client(child.key).post(keys, { name: "grandchild" })).body;
    await world.client.delete(`${keys}/${child.id}?descendants=keep`);
    for (const client of [bot.client, ofTrust.client, new Client(grandchild.key)]) {
      const { status, body } = await client.post("/v1/orgs", { name: "Gamma" });
      expect([status, body.code]).toEqual([403, "unauthorized"]);
      expect(body.message).toContain("a key that the person has made");
    }
    const refused = "select credential_id from audit_log where action = 'escalation.refused'";
    const { results } = await env.DB.prepare(`${refused} and organization_id = ? order by id`)
      .bind(world.id)
      .all();
    expect(results.map(({ credential_id }) => credential_id)).toEqual([
      bot.keyId,
      ofTrust.keyId,
      grandchild.id,
    ]);
    const made = (await world.client.post(keys, { name: "x", membership_id: admin.membershipId }))
      .body;
    const { status } = await new Client(made.key).post("/v1/orgs", { name: "Gamma" });
    expect(status).toBe(403);
    expect((await admin.client.post("/v1/orgs", { name: "Gamma" })).status).toBe(201);
  });
});

describe("the list of organizations", () => {
  it.each(["asc", "desc"] as const)("is empty after its only row, %s", async (direction) => {
    const sort = `sort_by=${direction === "asc" ? "%2B" : "-"}created_at`;
    const { body } = await world.client.get(`/v1/orgs?${sort}`);
    const position = { createdAt: Date.parse(body.data[0].created_at), id: world.id };
    const after = encodeURIComponent(encodeCursor(direction, position));
    const nextPage = await world.client.get(`/v1/orgs?${sort}&after=${after}`);
    expect(nextPage.body).toEqual({ data: [], has_more: false });
  });
});

describe("API keys", () => {
  it("are shown once, and later read without the secret", async () => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const created = await world.client.post(keys, {
      name: "ci",
      role: "member",
      expires_at: expires,
    });
    expect(created.status).toBe(201);
    const { key, ...record } = created.body;
    expect(record).toMatchObject({ name: "ci", role: "member", expires_at: expires });
    expect(record.membership_id).toBe(world.membershipId);
    expect(key).toMatch(/^lsh_[1-9A-HJ-NP-Za-km-z]{22}_[0-9A-Za-z]{49}$/);
    const read = await world.client.get(`${keys}/${record.id}`);
    expect(read.body).toEqual(record);
    expect((await world.client.get(keys)).text).not.toContain(key.slice(27));
    const row = await env.DB.prepare("select * from api_keys where id = ?").bind(record.id).first();
    expect(JSON.stringify(row)).not.toContain(key.slice(27, 70));
  });

  it("can belong to another membership, with at most its role", async () => {
    const member = await join(world);
    const forMember = { name: "for-member", membership_id: member.membershipId };
    const created = await world.client.post(keys, forMember);
    expect(created.body).toMatchObject({ membership_id: member.membershipId, role: "member" });
    const above = await world.client.post(keys, { ...forMember, role: "admin" });
    expect(above.status).toBe(400);
    expect(above.body.cause.issues[0].path).toBe("role");
  });

  it("cannot create a key with a higher role than their own", async () => {
    const weak = await newKey(world, { role: "admin" });
    expect((await weak.client.post(keys, { name: "x", role: "owner" })).body.code).toBe(
      "unauthorized",
    );
    expect((await weak.client.post(keys, { name: "x" })).body.role).toBe("admin");
    const member = await newKey(world, { role: "member" });
    expect((await member.client.post(keys, { name: "x" })).body.code).toBe("unauthorized");
  });

  it("of others are managed by admins only, and created by admins only", async () => {
    const member = await join(world);
    const other = await join(world);
    const another = `${keys}/${other.keyId}`;
    for (const { status, body } of [
      await member.client.post(keys, { name: "x" }),
      await member.client.get(another),
      await member.client.patch(another, { name: "x" }),
      await member.client.post(`${another}/rotate`, {}),
      await member.client.delete(another),
    ]) {
      expect([status, body?.code]).toEqual([403, "unauthorized"]);
    }
    expect((await world.client.get(another)).status).toBe(200);
  });

  it("of owners are managed by owners only", async () => {
    const admin = await join(world, "admin");
    const owners = { name: "x", membership_id: world.membershipId, role: "member" };
    for (const { status, body } of [
      await admin.client.delete(`${keys}/${world.keyId}`),
      await admin.client.post(keys, owners),
    ]) {
      expect([status, body?.code]).toEqual([403, "unauthorized"]);
    }
    expect((await world.client.post(keys, owners)).status).toBe(201);
  });

  it("have at most the current role of their membership", async () => {
    const admin = await join(world, "admin");
    await world.client.put(`${members}/${admin.membershipId}`, { role: "member" });
    expect((await admin.client.get(members)).status).toBe(403);
    await world.client.put(`${members}/${admin.membershipId}`, { role: "owner" });
    expect((await admin.client.get(members)).status).toBe(200);
    const owner = { email: newEmail(), name: "X", role: "owner" };
    expect((await admin.client.post(members, owner)).body.code).toBe("unauthorized");
  });

  it("cannot expire in the past or at an invalid time", async () => {
    for (const expires_at of [
      new Date(Date.now() - 1).toISOString(),
      "tomorrow",
      "2027-02-30T00:00:00Z",
    ]) {
      const reply = await world.client.post(keys, { name: "x", expires_at });
      expect(reply.status).toBe(400);
      expect(reply.body.cause.issues[0].path).toBe("expires_at");
    }
    expect((await world.client.post(keys, { name: "x", expires_at: null })).status).toBe(201);
  });
});

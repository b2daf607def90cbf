import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { auditOf } from "../support/audit.ts";
import { newOrganization } from "../support/second-organization.ts";
import { accept, newEmail, newKey, newWorld, type World } from "../support/world.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

describe("GET /v1/whoami", () => {
  it("names the organization, the membership, the account, the credential and its limits", async () => {
    const { status, body } = await world.client.get("/v1/whoami");
    expect(status).toBe(200);
    expect(body).toEqual({
      organization: { id: world.id, name: "Test" },
      membership: { id: world.membershipId, role: "owner", kind: "person" },
      account: { id: world.accountId, name: "Olive Owner" },
      credential: {
        type: "api_key",
        id: world.keyId,
        name: "First key",
        role: "owner",
        created_by: { membership_id: world.membershipId },
        own: true,
        full: true,
      },
      limits: [
        { name: "default", limit: 100, window_seconds: 60 },
        { name: "polling", limit: 300, window_seconds: 60 },
        { name: "reveal", limit: 30, window_seconds: 60 },
      ],
    });
  });

  it("names the effective role, the scopes, the projects and the expiry of a narrowed key", async () => {
    const key = await newKey(world, { role: "admin" });
    const expires = Date.now() + 3_600_000;
    await env.DB.prepare(
      `update api_keys set scopes = '["members:read"]', project_ids = ?, expires_at = ? where id = ?`,
    )
      .bind(JSON.stringify([world.id]), expires, key.keyId)
      .run();
    const { body } = await key.client.get("/v1/whoami");
    expect(body.membership.role).toBe("owner");
    expect(body.credential).toEqual({
      type: "api_key",
      id: key.keyId,
      name: "test",
      role: "admin",
      scopes: ["members:read"],
      project_ids: [world.id],
      expires_at: new Date(expires).toISOString(),
      own: true,
      full: false,
    });
  });
});

describe("the own account", () => {
  it("shows its address to the person, and not to an admin with a key of the membership", async () => {
    const email = newEmail();
    const person = await accept(world, { email, name: "Grace Hopper" });
    const own = await person.client.get("/v1/account");
    expect(own.body).toMatchObject({ id: person.accountId, email, name: "Grace Hopper" });
    const { client } = await newKey(world, { membershipId: person.membershipId, role: "member" });
    const others = await client.get("/v1/account");
    expect(others.status).toBe(200);
    expect(others.body.id).toBe(person.accountId);
    expect(others.text).not.toContain(email);
  });

  it("is changed as a merge patch: absent stays, null clears", async () => {
    const person = await accept(world, { name: "Grace" });
    const profile = { github: "grace", location: "New York" };
    const all = { name: "Grace Hopper", avatar: "emoji:⚓", profile };
    const first = await person.client.patch("/v1/account", all);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ ...all, display_name: "Grace Hopper" });
    const merged = { display_name: "G", profile: { location: null, bio: "Compilers" } };
    const second = await person.client.patch("/v1/account", merged);
    expect(second.body).toMatchObject({ name: "Grace Hopper", display_name: "G" });
    expect(second.body.avatar).toBe("emoji:⚓");
    expect(second.body.profile).toEqual({ github: "grace", bio: "Compilers" });
    const cleared = { display_name: null, avatar: null, profile: null };
    const third = await person.client.patch("/v1/account", cleared);
    expect(third.body).toMatchObject({ display_name: "Grace Hopper", profile: {} });
    expect(third.body).not.toHaveProperty("avatar");
    expect((await person.client.patch("/v1/account", {})).body).toEqual(third.body);
    expect((await person.client.get("/v1/account")).body).toEqual(third.body);
    const { body: member } = await world.client.get(
      `/v1/orgs/${world.id}/members/${person.membershipId}`,
    );
    expect(member.name).toBe("Grace Hopper");
  });

  it("loses no field of two concurrent changes", async () => {
    const person = await accept(world);
    await Promise.all([
      person.client.patch("/v1/account", { profile: { github: "a" } }),
      person.client.patch("/v1/account", { profile: { twitter: "b" } }),
    ]);
    const { body } = await person.client.get("/v1/account");
    expect(body.profile).toEqual({ github: "a", twitter: "b" });
  });

  it("cannot lose its name", async () => {
    const person = await accept(world);
    for (const body of [{ name: null }, { name: " " }, { email: newEmail() }]) {
      expect((await person.client.patch("/v1/account", body)).status).toBe(400);
    }
  });

  it("is neither changed nor deleted with a key that an admin has made, which is recorded", async () => {
    const person = await accept(world, { name: "Grace" });
    const { client } = await newKey(world, { membershipId: person.membershipId, role: "member" });
    const replies = [
      await client.patch("/v1/account", { name: "Mallory" }),
      await client.delete("/v1/account"),
    ];
    for (const { status, body } of replies) {
      expect([status, body.code]).toEqual([403, "unauthorized"]);
      expect(body.message).toContain("a key that the person has made");
    }
    expect((await person.client.get("/v1/account")).body.name).toBe("Grace");
    const refused = (await auditOf(world.id)).filter(({ outcome }) => outcome === "refused");
    expect(refused).toMatchObject([{ action: "escalation.refused", target_id: person.accountId }]);
  });

  it("is not opened by an organization that an admin's key founds for the person", async () => {
    const person = await accept(world, { name: "Grace" });
    const key = await newKey(world, { membershipId: person.membershipId, role: "member" });
    const refused = await key.client.post("/v1/orgs", { name: "Mallory's" });
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    const own = await newOrganization(person);
    expect((await own.client.get("/v1/whoami")).body.credential).toMatchObject({ full: true });
    expect((await own.client.patch("/v1/account", { name: "Grace Hopper" })).status).toBe(200);
  });

  it("is not that of a service account", async () => {
    const person = await accept(world);
    await env.DB.prepare("update memberships set kind = 'service_account' where id = ?")
      .bind(person.membershipId)
      .run();
    expect((await person.client.get("/v1/account")).status).toBe(200);
    for (const reply of [
      await person.client.patch("/v1/account", { name: "Bot" }),
      await person.client.delete("/v1/account"),
    ]) {
      expect(reply.body.code).toBe("unauthorized");
      expect(reply.body.message).toContain("service account");
    }
  });
});

describe("the change of an account", () => {
  const changesOf = async (organizationId: string) =>
    (await auditOf(organizationId)).filter(({ action }) => action === "account.updated");

  it("is recorded in each organization of the person, of which only one learns the credential", async () => {
    const person = await accept(world, { name: "Grace" });
    const others = [await newOrganization(person), await newOrganization(person)];
    await accept(world, { name: "Other Person" });
    const stranger = await newWorld();
    const change = { name: "Grace Hopper", profile: { github: "grace" } };
    expect((await person.client.patch("/v1/account", change)).status).toBe(200);
    const own = await changesOf(world.id);
    expect(own).toMatchObject([
      {
        actor_type: "api_key",
        credential_id: person.keyId,
        membership_id: person.membershipId,
        target_id: person.accountId,
      },
    ]);
    for (const other of others) {
      const records = await changesOf(other.id);
      expect(records).toMatchObject([
        {
          actor_type: "service",
          credential_id: null,
          client_address: null,
          request_id: null,
          membership_id: other.membershipId,
          account_id: person.accountId,
          target_type: "account",
          target_id: person.accountId,
          target_name: "Grace Hopper",
        },
      ]);
      expect(JSON.parse(records[0].changes)).toEqual({
        before: { name: "Grace", display_name: "Grace", profile: {} },
        after: { ...change, display_name: "Grace Hopper" },
      });
      expect(records[0].changes).toBe(own[0].changes);
    }
    expect(await changesOf(stranger.id)).toEqual([]);
  });

  it("is recorded nowhere if it changes nothing, or expects another version", async () => {
    const person = await accept(world, { name: "Grace" });
    const second = await newOrganization(person);
    await person.client.patch("/v1/account", { name: "Grace" });
    const stale = { "if-match": '"stale"' };
    const reply = await person.client.request("PATCH", "/v1/account", { name: "G" }, stale);
    expect(reply.status).toBe(409);
    expect(await changesOf(world.id)).toEqual([]);
    expect(await changesOf(second.id)).toEqual([]);
  });
});

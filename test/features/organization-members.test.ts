import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { Client } from "../support/client.ts";
import { join, newEmail, newKey, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let members: string;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  members = `/v1/orgs/${world.id}/members`;
  keys = `/v1/orgs/${world.id}/api-keys`;
});

/** A deployment with TRUST_ADMINS = "false". */
async function distrusting(request: Request): Promise<Response> {
  const execution = createExecutionContext();
  const response = await createApp().fetch(request, { ...env, TRUST_ADMINS: "false" }, execution);
  await waitOnExecutionContext(execution);
  return response;
}

describe("members of an organization", () => {
  it("are added by e-mail address, which no response contains", async () => {
    const email = newEmail();
    const profile = { bio: "Compilers.\nAnd ships.", github: "grace", website: null };
    const added = await world.client.post(members, {
      email: email.toUpperCase(),
      name: "Grace Hopper",
      display_name: "Grace",
      avatar: "emoji:⚓",
      profile,
      role: "admin",
    });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      name: "Grace Hopper",
      display_name: "Grace",
      avatar: "emoji:⚓",
      profile: { bio: "Compilers.\nAnd ships.", github: "grace" },
      role: "admin",
    });
    expect(added.text.toLowerCase()).not.toContain(email);
    const read = await world.client.get(`${members}/${added.body.membership_id}`);
    expect(read.body).toEqual(added.body);
  });

  it("get an account of their own in each organization, which reveals nothing of another", async () => {
    const email = newEmail();
    const bio = `canary-${crypto.randomUUID()}`;
    const first = await world.client.post(members, {
      email,
      name: bio,
      role: "member",
      profile: { bio },
    });
    const other = await newWorld();
    const second = await other.client.post(`/v1/orgs/${other.id}/members`, {
      email,
      name: "Second",
      role: "member",
    });
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({ name: "Second", profile: {} });
    expect(Object.keys(second.body).toSorted()).toEqual(
      Object.keys(first.body)
        .filter((field) => field !== "avatar")
        .toSorted(),
    );
    const { results } = await env.DB.prepare("select * from audit_log where organization_id = ?")
      .bind(other.id)
      .all();
    expect(results.map(({ action }) => action)).toContain("member.added");
    for (const secret of [first.body.account_id, bio, email]) {
      expect(second.text + JSON.stringify(results)).not.toContain(secret);
    }
  });

  it("do not get the account of a person who has proven their address", async () => {
    const { results } = await env.DB.prepare("select * from accounts where id = ?")
      .bind(world.accountId)
      .all<{ email: string; name: string }>();
    const email = String(results[0]?.email);
    expect(email).toContain("@");
    const other = await newWorld();
    const added = await other.client.post(`/v1/orgs/${other.id}/members`, {
      email,
      name: "Somebody",
      role: "member",
    });
    expect([added.status, added.body.name]).toEqual([201, "Somebody"]);
    expect(added.body.account_id).not.toBe(world.accountId);
    const again = await world.client.post(members, { email, name: "Olive", role: "member" });
    expect([again.status, again.body.code]).toEqual([409, "conflict"]);
  });

  it("leave nothing of their account behind when they are removed, and can be added again", async () => {
    const body = { email: newEmail(), name: "Grace", role: "member" };
    const { body: member } = await world.client.post(members, body);
    const find = () =>
      env.DB.prepare("select id from accounts where id = ?").bind(member.account_id).first();
    expect(await find()).not.toBeNull();
    await world.client.delete(`${members}/${member.membership_id}`);
    expect(await find()).toBeNull();
    expect((await world.client.post(members, body)).status).toBe(201);
  });

  it("are pending where the deployment does not trust its admins: without keys and projects", async () => {
    const cautious = world.client.via(distrusting);
    const added = await cautious.post(members, { email: newEmail(), name: "X", role: "owner" });
    expect([added.status, added.body.status]).toEqual([201, "pending"]);
    const id = added.body.membership_id;
    const project = await newProject(world.client);
    const replies = [
      await cautious.post(keys, { name: "x", membership_id: id }),
      await cautious.post(`/v1/projects/${project.id}/members`, { member_ids: [id] }),
    ];
    for (const { status, body } of replies) {
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.message).toContain("pending");
    }
    // Not for the lack of a key.
    await newKey(world, { membershipId: id });
    const owner = `${members}/${world.membershipId}`;
    expect((await world.client.put(owner, { role: "admin" })).status).toBe(409);
    expect((await world.client.delete(`${members}/${id}`)).status).toBe(204);
    const trusted = await world.client.post(members, {
      email: newEmail(),
      name: "X",
      role: "member",
    });
    expect(trusted.body.status).toBe("active");
    const key = { name: "x", membership_id: trusted.body.membership_id };
    expect((await world.client.post(keys, key)).status).toBe(201);
  });

  it("leave a record of each change, and of each attempt of an admin to manage an owner", async () => {
    const admin = await join(world, "admin");
    const member = await join(world);
    const path = `${members}/${member.membershipId}`;
    await world.client.put(path, { role: "admin" });
    await world.client.put(path, { role: "admin" });
    await admin.client.put(path, { role: "owner" });
    await world.client.delete(path);
    const { results } = await env.DB.prepare(
      `select action, outcome, membership_id, target_name, changes from audit_log
        where target_id = ? order by created_at, id`,
    )
      .bind(member.membershipId)
      .all<{ action: string; changes: string | null }>();
    const own = { outcome: "success", membership_id: world.membershipId };
    const target = { target_name: "Molly Member" };
    expect(results).toMatchObject([
      { action: "member.added", ...own, ...target },
      { action: "member.role_changed", ...own, ...target },
      { action: "escalation.refused", outcome: "refused", membership_id: admin.membershipId },
      { action: "member.removed", ...own, ...target },
    ]);
    expect(JSON.parse(String(results[1]?.changes))).toEqual({
      before: { role: "member" },
      after: { role: "admin" },
    });
    expect(JSON.stringify(results)).not.toContain("@example.com");
  });

  it("who are removed leave tombstones of their keys, and the keys that they created for others", async () => {
    const admin = await join(world, "admin");
    const bot = await join(world);
    const { body: created } = await admin.client.post(keys, {
      name: "ci",
      membership_id: bot.membershipId,
    });
    expect((await world.client.delete(`${members}/${admin.membershipId}`)).status).toBe(204);
    expect((await admin.client.get("/v1/orgs")).status).toBe(401);
    expect((await new Client(created.key).get("/v1/orgs")).status).toBe(200);
    const tombstone = await env.DB.prepare("select * from revoked_keys where id = ?")
      .bind(admin.keyId)
      .first();
    expect(tombstone).toMatchObject({
      membership_id: admin.membershipId,
      revoked_by_membership_id: world.membershipId,
    });
  });

  it("are added once, also by concurrent requests", async () => {
    const email = newEmail();
    const add = () => world.client.post(members, { email, name: "Twin", role: "member" });
    const statuses = (await Promise.all([add(), add(), add()])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([201, 409, 409]);
  });

  it.each([
    ["an invalid address", { email: "ada", name: "Ada", role: "member" }, "email"],
    ["an unknown role", { email: "a@b.example", name: "Ada", role: "king" }, "role"],
    ["a blank name", { email: "a@b.example", name: " ", role: "member" }, "name"],
    ["half a surrogate", { email: "a@b.example", name: "\ud800", role: "member" }, "name"],
    ["a control character", { email: "a@b.example", name: "a\u0000b", role: "member" }, "name"],
    [
      "an unknown field of the profile",
      { email: "a@b.example", name: "Ada", role: "member", profile: { blog: "x" } },
      "profile.blog",
    ],
  ])("are rejected with %s", async (_, body, path) => {
    const reply = await world.client.post(members, body);
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe(path);
  });

  it.each([
    "user@xn--80a1acny.xn--p1ai",
    "a&b@example.com",
    "o'brien+tag/dept@sub.example.museum",
    ".a..b.@1.2",
    `${"a".repeat(64)}@${"b".repeat(63)}.example`,
  ])("are added with an address as browsers accept it, such as %s", async (address) => {
    const email = `${crypto.randomUUID()}${address}`;
    const path = `/v1/orgs/${world.id}/members`;
    const body = { email, name: "Ada", role: "member" };
    expect((await world.client.post(path, body)).status).toBe(201);
    expect((await world.client.post(path, body)).status).toBe(409);
  });

  it.each([
    "user@\u043f\u043e\u0447\u0442\u0430.\u0440\u0444",
    "us\u00e9r@example.com",
    "a@-b.example",
    "a@b-.example",
    `a@${"b".repeat(64)}.example`,
    "a@b..example",
    "a b@example.com",
    "a@b@example.com",
    "@example.com",
    "a@",
  ])("are rejected with the address %s, with what to send", async (email) => {
    const body = { email, name: "Ada", role: "member" };
    const reply = await world.client.post(`/v1/orgs/${world.id}/members`, body);
    expect(reply.status).toBe(400);
    expect(reply.body.message).toBe(
      "email: Send an e-mail address. Write a domain in another script in punycode, as user@xn--80a1acny.xn--p1ai.",
    );
  });

  it("are managed by admins only", async () => {
    const member = await join(world);
    const own = `${members}/${member.membershipId}`;
    const replies = [
      await member.client.get(members),
      await member.client.get(own),
      await member.client.post(members, { email: newEmail(), name: "X", role: "member" }),
      await member.client.put(own, { role: "admin" }),
      await member.client.delete(own),
    ];
    for (const { status, body } of replies) {
      expect(status).toBe(403);
      expect(body.code).toBe("unauthorized");
    }
  });

  it("who are demoted keep their project roles, and a revoked key changes none", async () => {
    const owner = await join(world, "owner");
    const spare = await newKey(world, { membershipId: owner.membershipId });
    const project = await newProject(owner.client);
    const path = `${members}/${owner.membershipId}`;
    expect((await world.client.put(path, { role: "member" })).status).toBe(200);
    expect((await world.client.delete(`${keys}/${owner.keyId}`)).status).toBe(204);
    expect((await owner.client.get("/v1/orgs")).status).toBe(401);
    const { body } = await spare.client.get(`/v1/projects/${project.id}/members`);
    expect(body.data).toMatchObject([{ membership_id: owner.membershipId, role: "owner" }]);
    expect((await spare.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
  });

  it("lose their keys and project roles when they are removed", async () => {
    const member = await join(world);
    const project = await newProject(world.client);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [member.membershipId],
    });
    expect((await world.client.delete(`${members}/${member.membershipId}`)).status).toBe(204);
    const { body: key } = await world.client.get(`${keys}/${member.keyId}`);
    expect(key.revoked_by).toEqual({ key_id: world.keyId, membership_id: world.membershipId });
    const remaining = await world.client.get(`/v1/projects/${project.id}/members`);
    expect(remaining.body.data).toHaveLength(1);
    expect((await member.client.get("/v1/orgs")).status).toBe(401);
  });
});

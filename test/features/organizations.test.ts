import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { API_KEY_PATTERN } from "../../src/auth/credentials.ts";
import { encodeCursor } from "../../src/lib/cursor.ts";
import { Client, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  join,
  newEmail,
  newKey,
  newProject,
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

/** A deployment with TRUST_ADMINS = "false". */
async function distrusting(request: Request): Promise<Response> {
  const execution = createExecutionContext();
  const response = await createApp().fetch(request, { ...env, TRUST_ADMINS: "false" }, execution);
  await waitOnExecutionContext(execution);
  return response;
}

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

  it("who are service accounts are never owners, and do not count as the other owner", async () => {
    const member = await join(world);
    await env.DB.prepare("update memberships set kind = 'service_account' where id = ?")
      .bind(member.membershipId)
      .run();
    const path = `${members}/${member.membershipId}`;
    expect((await world.client.get(path)).body.kind).toBe("service_account");
    const refused = await world.client.put(path, { role: "owner" });
    expect([refused.status, refused.body.cause.issues[0].path]).toEqual([400, "role"]);
    expect((await world.client.put(path, { role: "admin" })).status).toBe(200);
    await env.DB.prepare("update memberships set role = 'owner' where id = ?")
      .bind(member.membershipId)
      .run();
    await newKey(world, { membershipId: member.membershipId });
    const owner = `${members}/${world.membershipId}`;
    expect((await world.client.put(owner, { role: "member" })).status).toBe(409);
  });

  it("who are owners leave a record of each refused attempt on each of them, once a minute for each key", async () => {
    const admin = await join(world, "admin");
    const second = await newKey(world, { membershipId: admin.membershipId, role: "admin" });
    const owners = [world.membershipId, (await join(world, "owner")).membershipId];
    const worker = new Instrumented({ clock: { now: () => now } });
    let now = Date.now();
    const attempt = async ({ client }: { client: Client }) => {
      for (const id of [...owners, ...owners]) {
        const refused = await client.via(worker.fetch).put(`${members}/${id}`, { role: "member" });
        expect(refused.body.code).toBe("unauthorized");
      }
    };
    const recorded = async () => {
      const { results } = await env.DB.prepare(
        `select credential_id, target_id from audit_log
          where organization_id = ? and action = 'escalation.refused'`,
      )
        .bind(world.id)
        .all();
      return results.map((each) => `${each["credential_id"]} ${each["target_id"]}`).toSorted();
    };
    const attemptsOf = ({ keyId }: { keyId: string }) => owners.map((id) => `${keyId} ${id}`);
    await attempt(admin);
    expect(await recorded()).toEqual(attemptsOf(admin).toSorted());
    await attempt(second);
    const ofBoth = [...attemptsOf(admin), ...attemptsOf(second)];
    expect(await recorded()).toEqual(ofBoth.toSorted());
    now += 61_000;
    await attempt(admin);
    expect(await recorded()).toEqual([...ofBoth, ...attemptsOf(admin)].toSorted());
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

  it("who are owners are managed by owners only", async () => {
    const admin = await join(world, "admin");
    const member = await join(world);
    const owner = `${members}/${world.membershipId}`;
    const replies = [
      await admin.client.put(owner, { role: "member" }),
      await admin.client.delete(owner),
      await admin.client.put(`${members}/${member.membershipId}`, { role: "owner" }),
      await admin.client.post(members, { email: newEmail(), name: "X", role: "owner" }),
    ];
    for (const { body } of replies) expect(body.code).toBe("unauthorized");
    const promoted = await admin.client.put(`${members}/${member.membershipId}`, { role: "admin" });
    expect(promoted.body.role).toBe("admin");
  });

  it("always include an owner, also when two owners step down concurrently", async () => {
    const owner = `${members}/${world.membershipId}`;
    expect((await world.client.put(owner, { role: "admin" })).status).toBe(409);
    expect((await world.client.delete(owner)).status).toBe(409);
    const second = await join(world, "owner");
    const statuses = await Promise.all([
      world.client.put(owner, { role: "member" }),
      second.client.put(`${members}/${second.membershipId}`, { role: "member" }),
    ]);
    expect(statuses.filter(({ status }) => status === 200)).toHaveLength(1);
    const owners = await env.DB.prepare(
      "select count(*) as n from memberships where organization_id = ? and role = 'owner'",
    )
      .bind(world.id)
      .first("n");
    expect(owners).toBe(1);
  });

  it("who are the only owner can be given the role owner again", async () => {
    const owner = await world.client.put(`${members}/${world.membershipId}`, { role: "owner" });
    expect([owner.status, owner.body.role]).toEqual([200, "owner"]);
  });

  it("who become owners during an admin's request are neither demoted nor removed by it", async () => {
    for (const attempt of [
      (client: Client, path: string) => client.put(path, { role: "admin" }),
      (client: Client, path: string) => client.delete(path),
    ]) {
      const member = await join(world);
      const path = `${members}/${member.membershipId}`;
      const isolate = new Instrumented({ database: promoting(member.membershipId) });
      const admin = (await join(world, "admin")).client.via(isolate.fetch);
      const reply = await attempt(admin, path);
      expect([reply.status, reply.body?.code]).toEqual([409, "conflict"]);
      expect(reply.body.message).toContain("just changed");
      expect((await world.client.get(path)).body.role).toBe("owner");
      expect((await member.client.get("/v1/orgs")).status).toBe(200);
    }
  });

  it("cannot be removed while they are the only owner of a project that has other members", async () => {
    const owner = await join(world);
    const other = await join(world);
    const project = await newProject(owner.client);
    const path = `${members}/${owner.membershipId}`;
    const projectMembers = `/v1/projects/${project.id}/members`;
    const added = { member_ids: [other.membershipId], role: "contributor" };
    expect((await owner.client.post(projectMembers, added)).status).toBe(201);
    const refused = await world.client.delete(path);
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect((await owner.client.get(projectMembers)).body.data).toHaveLength(2);
    const promoted = `${projectMembers}/${other.membershipId}`;
    expect((await owner.client.put(promoted, { role: "owner" })).status).toBe(200);
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await other.client.get(projectMembers)).body.data).toMatchObject([
      { membership_id: other.membershipId, role: "owner" },
    ]);
  });

  it("leave each of their projects an owner when two owners are removed concurrently", async () => {
    const [first, second] = [await join(world), await join(world)];
    const project = await newProject(first.client);
    const projectMembers = `/v1/projects/${project.id}/members`;
    const added = { member_ids: [second.membershipId], role: "owner" };
    expect((await first.client.post(projectMembers, added)).status).toBe(201);
    const removed = await Promise.all(
      [first, second].map(({ membershipId }) => world.client.delete(`${members}/${membershipId}`)),
    );
    expect(removed.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    const { body } = await world.client.get(projectMembers);
    expect(body.data.map(({ role }: Parsed) => role)).toEqual(["owner"]);
  });

  it("cannot be removed while they are the only owner of one of several projects", async () => {
    const owner = await join(world);
    const shared = await newProject(world.client);
    const added = { member_ids: [owner.membershipId], role: "owner" };
    await world.client.post(`/v1/projects/${shared.id}/members`, added);
    const own = await newProject(owner.client);
    expect((await world.client.delete(`${members}/${owner.membershipId}`)).status).toBe(409);
    expect((await owner.client.get(`/v1/projects/${shared.id}/members`)).body.data).toHaveLength(2);
    expect((await world.client.delete(`/v1/projects/${own.id}`)).status).toBe(204);
    expect((await world.client.delete(`${members}/${owner.membershipId}`)).status).toBe(204);
    const { body } = await world.client.get(`/v1/projects/${shared.id}/members`);
    expect(body.data).toMatchObject([{ membership_id: world.membershipId, role: "owner" }]);
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

  it("who are the only owner of a project cannot be removed, and lose nothing", async () => {
    const member = await join(world);
    const project = await newProject(member.client);
    const path = `${members}/${member.membershipId}`;
    expect((await world.client.delete(path)).status).toBe(409);
    expect((await member.client.get(`/v1/projects/${project.id}`)).status).toBe(200);
    await world.client.post(`/v1/projects/${project.id}/members`, {
      member_ids: [world.membershipId],
      role: "owner",
    });
    expect((await world.client.delete(path)).status).toBe(204);
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

/** Makes the member an owner before every batch, between the read and the write of a request. */
function promoting(membershipId: string): D1Database {
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => session.prepare(sql),
      batch: async (statements: D1PreparedStatement[]) => {
        await env.DB.prepare("update memberships set role = 'owner' where id = ?")
          .bind(membershipId)
          .run();
        return session.batch(statements);
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  return { withSession } as unknown as D1Database;
}

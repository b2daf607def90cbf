import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { auditOf } from "../support/audit.ts";
import type { Parsed } from "../support/client.ts";
import { beforeBatch, Instrumented } from "../support/instruments.ts";
import { newIntegration } from "../support/integrations.ts";
import { copyRow, newIdsOf } from "../support/long-lists.ts";
import { newOrganization } from "../support/second-organization.ts";
import {
  accept,
  newKey,
  newProject,
  newServiceAccount,
  newWorld,
  signIn,
  type World,
} from "../support/world.ts";

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

/** Every row of every table, as text. */
async function dumpDatabase(): Promise<string> {
  const { results: tables } = await env.DB.prepare(
    "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'",
  ).all<{ name: string }>();
  const rows = await env.DB.batch(
    tables.map(({ name }) => env.DB.prepare(`select * from "${name}"`)),
  );
  return JSON.stringify(rows.map(({ results }) => results));
}

describe("the deletion of an account", () => {
  it("ends its memberships and its keys in every organization", async () => {
    const person = await accept(world);
    const second = await newOrganization(person);
    const other = await accept(second, { role: "owner" });
    const members = `/v1/orgs/${second.id}/members`;
    expect((await other.client.get("/v1/whoami")).status).toBe(200);
    expect((await person.client.delete("/v1/account")).status).toBe(204);
    for (const { client } of [person, second]) {
      expect((await client.get("/v1/whoami")).status).toBe(401);
    }
    const { body } = await other.client.get(members);
    expect(body.data.map((each: Parsed) => each.membership_id)).toEqual([other.membershipId]);
    const { results } = await env.DB.prepare(
      "select id, revoked_by_membership_id from revoked_keys where id in (?, ?)",
    )
      .bind(person.keyId, second.keyId)
      .all();
    expect(results).toHaveLength(2);
  });

  it("erases every stored copy of the name, the address and the profile", async () => {
    const canary = `canary-${crypto.randomUUID()}`;
    const email = `${canary}@example.com`;
    const person = await accept(world, { email, name: canary });
    const change = {
      name: `${canary} the second`,
      display_name: canary,
      avatar: `https://example.com/${canary}`,
      profile: { bio: canary, website: canary },
    };
    await person.client.request("PATCH", "/v1/account", change, { "idempotency-key": "own" });
    await addToProject(world, person);
    for (const hasProject of [true, false]) {
      const left = await newOrganization(person);
      await leave(left, await accept(left, { role: "owner" }), hasProject);
      // The audit log may be kept for a shorter time than the changelog.
      const deletion = "delete from audit_log where organization_id = ? and target_type = 'member'";
      if (hasProject) await env.DB.prepare(deletion).bind(left.id).run();
    }
    expect(await dumpDatabase()).toContain(canary);
    const reply = await person.client.delete("/v1/account");
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(await dumpDatabase()).not.toContain(canary);
    const account = await env.DB.prepare("select * from accounts where id = ?")
      .bind(person.accountId)
      .first();
    expect(account).toMatchObject({ name: "Deleted account", email: person.accountId });
  });

  /** So many that one batch does not erase all of them. */
  const nameOften = (person: World, name: string) =>
    copyRow(world.id, "audit_log", undefined, newIdsOf(2_001), {
      target_type: "'member'",
      target_id: `'${person.membershipId}'`,
      target_name: `'${name}'`,
    });

  // The last batch is the fourth, and the sixth after two with pages.
  it.each([
    ["a little", 0, 4],
    ["much", 1, 6],
  ])("erases what was stored while it was deleted (%s)", async (_, isMuch, last) => {
    const canary = `canary-${crypto.randomUUID()}`;
    const person = await accept(world, { name: canary });
    if (isMuch) await nameOften(person, canary);
    const join = async () => {
      await addToProject(world, person);
      expect(await dumpDatabase()).toContain(`"target_name":"${canary}"`);
    };
    const worker = new Instrumented({ database: beforeBatch(last, join) });
    expect((await person.client.via(worker.fetch).delete("/v1/account")).status).toBe(204);
    const left = await dumpDatabase();
    expect(left).toContain(`"record_id":"${person.membershipId}"`);
    expect(left).not.toContain(canary);
  });

  it.each([
    ["of the only batch", 0, 4],
    ["of the first batch with a page", 1, 4],
    ["of the last batch", 1, 6],
  ])("is a conflict if the last other owner leaves before the end %s", async (_, isMuch, at) => {
    const name = crypto.randomUUID();
    const person = await accept(world, { role: "owner", name });
    if (isMuch) await nameOften(person, name);
    const leave = async () => {
      expect((await world.client.delete("/v1/account")).status).toBe(204);
    };
    const worker = new Instrumented({ database: beforeBatch(at, leave) });
    const refused = await person.client.via(worker.fetch).delete("/v1/account");
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect((await person.client.get("/v1/account")).body.name).toBe(name);
    const named = env.DB.prepare("select count(*) as n from audit_log where target_name = ?");
    // What the pages before the last batch have erased stays so.
    expect(await named.bind(name).first("n")).toBe(at === 6 ? 0 : isMuch * 2_001 + 1);
    await accept({ ...world, client: person.client }, { role: "owner" });
    expect((await person.client.delete("/v1/account")).status).toBe(204);
  });

  it("keeps the names of others, and the roles and the IDs in the audit log", async () => {
    const person = await accept(world, { name: "Grace" });
    const other = await accept(world, { name: "Other Person" });
    const project = await addToProject(world, other);
    await person.client.delete("/v1/account");
    const records = await auditOf(world.id);
    const added = records.filter(({ action }) => action === "member.added");
    expect(added).toMatchObject([
      { target_id: person.membershipId, target_name: null },
      { target_id: other.membershipId, target_name: "Other Person" },
    ]);
    expect(JSON.parse(added[0].changes)).toEqual({
      after: { account_id: person.accountId, role: "member", status: "active" },
    });
    expect(records).toContainEqual(
      expect.objectContaining({ action: "account.deleted", target_id: person.accountId }),
    );
    const { text } = await world.client.get(`/v1/projects/${project.id}/changelog`);
    expect(text).toContain("Other Person");
  });

  it("tells another organization nothing of the credential", async () => {
    const person = await accept(world);
    const second = await newOrganization(person);
    await accept(second, { role: "owner" });
    expect((await second.client.delete("/v1/account")).status).toBe(204);
    const records = (await auditOf(world.id)).filter(({ action }) => action === "account.deleted");
    expect(records).toMatchObject([
      {
        actor_type: "service",
        credential_id: null,
        membership_id: person.membershipId,
        client_address: null,
      },
    ]);
    const own = (await auditOf(second.id)).filter(({ action }) => action === "account.deleted");
    expect(own).toMatchObject([{ actor_type: "api_key", credential_id: second.keyId }]);
    const { results } = await env.DB.prepare(
      "select id, revoked_by_key_id, revoked_by_membership_id from revoked_keys where id in (?, ?)",
    )
      .bind(person.keyId, second.keyId)
      .all();
    expect(results).toHaveLength(2);
    expect(results).toEqual(
      expect.arrayContaining([
        { id: person.keyId, revoked_by_key_id: null, revoked_by_membership_id: null },
        {
          id: second.keyId,
          revoked_by_key_id: second.keyId,
          revoked_by_membership_id: second.membershipId,
        },
      ]),
    );
  });

  it("is a conflict for the last owner of any organization, and changes nothing", async () => {
    const person = await accept(world, { name: "Grace" });
    const second = await newOrganization(person);
    const before = await dumpDatabase();
    const refused = await person.client.delete("/v1/account");
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(await dumpDatabase()).toBe(before);
    const heir = await accept(second, { role: "owner" });
    await env.DB.prepare("update memberships set status = 'pending' where id = ?")
      .bind(heir.membershipId)
      .run();
    expect((await person.client.delete("/v1/account")).status).toBe(409);
    await env.DB.prepare("update memberships set status = 'active' where id = ?")
      .bind(heir.membershipId)
      .run();
    await env.DB.prepare("update api_keys set expires_at = ? where id = ?")
      .bind(Date.now() + 3_600_000, heir.keyId)
      .run();
    expect((await person.client.delete("/v1/account")).status).toBe(409);
    await newKey(second, { membershipId: heir.membershipId });
    expect((await person.client.delete("/v1/account")).status).toBe(204);
  });

  it("is a conflict for the last owner of a project", async () => {
    const person = await accept(world);
    const project = await newProject(person.client);
    expect((await person.client.delete("/v1/account")).status).toBe(409);
    expect((await person.client.get(`/v1/projects/${project.id}`)).status).toBe(200);
    const owner = { member_ids: [world.membershipId], role: "owner" };
    await person.client.post(`/v1/projects/${project.id}/members`, owner);
    expect((await person.client.delete("/v1/account")).status).toBe(204);
  });

  it("may leave a project to a service account, which may own one, and so may a removed member", async () => {
    const membershipId = await newServiceAccount(world);
    const bot = await newKey(world, { membershipId, role: "member" });
    for (const leaves of [
      (person: World) => person.client.delete("/v1/account"),
      (person: World) => world.client.delete(`/v1/orgs/${world.id}/members/${person.membershipId}`),
    ]) {
      const person = await accept(world);
      const project = await newProject(person.client);
      const members = `/v1/projects/${project.id}/members`;
      const viewer = { member_ids: [membershipId], role: "viewer" };
      expect((await person.client.post(members, viewer)).status).toBe(201);
      expect((await leaves(person)).status).toBe(409);
      await person.client.put(`${members}/${membershipId}`, { role: "owner" });
      expect((await leaves(person)).status).toBe(204);
      const { body } = await world.client.get(members);
      expect(body.data).toMatchObject([{ membership_id: membershipId, role: "owner" }]);
      expect((await bot.client.delete(`/v1/projects/${project.id}`)).status).toBe(204);
    }
  });

  it("and its change need a full credential, or a session from one", async () => {
    const person = await accept(world, { role: "admin", name: "Grace" });
    const own = { membershipId: person.membershipId, role: "admin", isOwn: true } as const;
    const project = await newProject(world.client);
    for (const fields of [
      { role: "member" },
      { expiresAt: Date.now() + 3_600_000 },
      { scopes: ["members:write"] },
      { projectIds: [project.id] },
      { projectIds: [project.id], environmentIds: [project.default_environment_id] },
    ] as const) {
      const less = await newKey(world, { ...own, ...fields });
      const session = await signIn(less);
      for (const reply of [
        await less.client.delete("/v1/account"),
        await less.client.patch("/v1/account", { name: "Mallory" }),
        await session.client.delete("/v1/account"),
        await session.client.patch("/v1/account", { name: "Mallory" }),
      ]) {
        expect([reply.status, reply.body.code]).toEqual([403, "unauthorized"]);
        expect(reply.body.message).toContain("the whole role of the membership");
      }
    }
    expect((await person.client.get("/v1/account")).body.name).toBe("Grace");
    const byPolicy = { expiresAt: Date.now() + 3_600_000, expiresByPolicy: true };
    const full = await newKey(world, { ...own, role: "owner", ...byPolicy });
    const { client } = await signIn(full);
    expect((await client.patch("/v1/account", { display_name: "G" })).status).toBe(200);
    expect((await full.client.delete("/v1/account")).status).toBe(204);
  });

  it("leaves an organization an owner when its two owners delete their accounts at once", async () => {
    const heir = await accept(world, { role: "owner" });
    const replies = await Promise.all(
      [world, heir].map(({ client }) => client.delete("/v1/account")),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([204, 409]);
  });

  it("succeeds once, also by concurrent requests", async () => {
    const person = await accept(world);
    const remove = () => person.client.delete("/v1/account");
    const statuses = (await Promise.all([remove(), remove(), remove()])).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.every((status) => [204, 401, 409].includes(status))).toBe(true);
  });

  it("logs nothing of the person", async () => {
    const worker = new Instrumented();
    const name = `canary-${crypto.randomUUID()}`;
    const person = await accept(world, { name });
    const { client } = person;
    const caller = client.via(worker.fetch);
    await caller.patch("/v1/account", { profile: { bio: name } });
    await caller.delete("/v1/account");
    expect(worker.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(worker.logged)).not.toContain(name);
  });
});

/** With an integration that receives the changelog. */
async function addToProject(organization: World, person: World): Promise<Parsed> {
  const project = await newProject(organization.client);
  await newIntegration(organization.client, project.id, ["changelog"]);
  const path = `/v1/projects/${project.id}/members`;
  await organization.client.post(path, { member_ids: [person.membershipId], role: "viewer" });
  await organization.client.put(`${path}/${person.membershipId}`, { role: "contributor" });
  return project;
}

/** The person is removed, so that only records of the past name them. */
async function leave(person: World, heir: World, hasProject: boolean): Promise<void> {
  if (hasProject) {
    const project = await newProject(heir.client);
    const added = { member_ids: [person.membershipId], role: "viewer" };
    await heir.client.post(`/v1/projects/${project.id}/members`, added);
  }
  const path = `/v1/orgs/${person.id}/members/${person.membershipId}`;
  expect((await heir.client.delete(path)).status).toBe(204);
}

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newEmail, newKey, newProject, newWorld, type World } from "../support/world.ts";

let world: World;
let members: string;

beforeEach(async () => {
  world = await newWorld();
  members = `/v1/orgs/${world.id}/members`;
});

describe("members of an organization", () => {
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

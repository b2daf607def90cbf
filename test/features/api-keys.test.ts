import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { clientOf, createKey, keyRecordsOf } from "../support/api-keys.ts";
import type { Parsed } from "../support/client.ts";
import { beforeBatch, deleteKey, Instrumented } from "../support/instruments.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const at = (offset: number) => new Date(Date.now() + offset).toISOString();

let world: World;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
});

/** Of the records of an action, oldest first. */
async function changesOf(action: string): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "select changes from audit_log where organization_id = ? and action = ? order by created_at, id",
  )
    .bind(world.id, action)
    .all<{ changes: string }>();
  return results.map(({ changes }) => JSON.parse(changes));
}

describe("the owner of a key", () => {
  const read = async (id: string) => (await world.client.get(`${keys}/${id}`)).body.owner;
  const family = async () => (await world.client.get(`${keys}/${world.keyId}/family`)).body.data;

  it("is the person or the service account that it acts for, wherever the key is shown", async () => {
    const person = await join(world, "admin");
    const name = { name: "Grace Hopper", display_name: "Grace" };
    await person.client.patch("/v1/account", name);
    const account = await world.client.post(`/v1/orgs/${world.id}/service-accounts`, {
      name: "deploy bot",
      role: "member",
    });
    for (const [membership_id, owner] of [
      [person.membershipId, { type: "person", name: "Grace" }],
      [account.body.membership_id, { type: "service_account", name: "deploy bot" }],
    ] as const) {
      const created = await createKey(world, { membership_id, role: "member" });
      expect(created.owner).toEqual(owner);
      const one = `${keys}/${created.id}`;
      expect(await read(created.id)).toEqual(owner);
      const { data } = (await world.client.get(keys)).body;
      expect(data.find(({ id }: Parsed) => id === created.id).owner).toEqual(owner);
      expect((await world.client.patch(one, { name: "renamed" })).body.owner).toEqual(owner);
      const ofFamily = (await family()).find(({ id }: Parsed) => id === created.id);
      expect(ofFamily).toMatchObject({ type: "api_key", membership_id, owner });
      const rotated = await world.client.post(`${one}/rotate`, {});
      expect(rotated.body.owner).toEqual(owner);
      const revoked = (await world.client.get(`${keys}?status=revoked`)).body.data;
      expect(revoked.find(({ id }: Parsed) => id === created.id).owner).toEqual(owner);
    }
  });

  it("has the name of now, and is absent once the member is removed", async () => {
    const { client, membershipId, keyId } = await join(world);
    expect(await read(keyId)).toEqual({ type: "person", name: "Molly Member" });
    const { etag: before } = Object.fromEntries((await client.get(`${keys}/${keyId}`)).headers);
    await client.patch("/v1/account", { display_name: "Molly" });
    expect(await read(keyId)).toEqual({ type: "person", name: "Molly" });
    const { headers } = await client.get(`${keys}/${keyId}`);
    expect(headers.get("etag")).not.toBe(before);
    await world.client.delete(`/v1/orgs/${world.id}/members/${membershipId}`);
    const removed = (await world.client.get(`${keys}/${keyId}`)).body;
    expect(removed).toMatchObject({ membership_id: membershipId, revoked_at: expect.any(String) });
    expect(removed).not.toHaveProperty("owner");
  });
});

describe("a key that another key creates", () => {
  it("has what the other has by default, or less, and says where it comes from", async () => {
    const project = await newProject(world.client);
    const [environment] = [project.default_environment_id];
    const narrow = await createKey(world, {
      scopes: ["keys:write", "projects:read"],
      environment_ids: [environment],
    });
    expect(narrow).toMatchObject({
      scopes: ["keys:write", "projects:read"],
      project_ids: [project.id],
      environment_ids: [environment],
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    });
    const child = await createKey(world, {}, clientOf(narrow));
    expect(child).toMatchObject({
      scopes: narrow.scopes,
      project_ids: narrow.project_ids,
      environment_ids: narrow.environment_ids,
      created_by: { key_id: narrow.id },
    });
    const less = await createKey(world, { scopes: ["keys:read"] }, clientOf(narrow));
    expect(less.scopes).toEqual(["keys:read"]);
    expect(await createKey(world)).not.toHaveProperty("scopes");
    const { client: admin } = await newKey(world, { role: "admin" });
    expect((await admin.post(keys, { name: "of less" })).body.role).toBe("admin");
    expect(await keyRecordsOf(world)).toHaveLength(5);
  });

  it("cannot have more, and the refusal names what exceeds and is on record", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(
      await createKey(world, { scopes: ["keys:write"], project_ids: [project.id] }),
    );
    const environment = clientOf(
      await createKey(world, { environment_ids: [project.default_environment_id] }),
    );
    const admin = await join(world, "admin");
    const refusals = [
      [narrow, { scopes: ["keys:write", "members:read"] }, "the scope members:read"],
      [narrow, { project_ids: [project.id, other.id] }, "projects"],
      [narrow, { project_ids: [newId(systemClock)] }, "projects"],
      [environment, { environment_ids: [other.default_environment_id] }, "environments"],
      [environment, { environment_ids: [newId(systemClock)] }, "environments"],
      [admin.client, { role: "owner" }, "the role owner"],
      [admin.client, { membership_id: world.membershipId, role: "member" }, "the role owner"],
    ] as const;
    for (const [client, fields, what] of refusals) {
      const { status, body } = await client.post(keys, { name: "wide", ...fields });
      expect([status, body.code]).toEqual([403, "unauthorized"]);
      expect(body.message).toContain(what);
    }
    const { results } = await env.DB.prepare(
      `select target_type, target_id, count(*) as n from audit_log
        where organization_id = ? and action = 'escalation.refused' group by 1, 2`,
    )
      .bind(world.id)
      .all();
    // One a minute for each key and member: two keys and the admin for the owner, the admin for itself.
    const target = { target_type: "member" };
    expect(results).toHaveLength(2);
    expect(results).toContainEqual({ ...target, target_id: world.membershipId, n: 3 });
    expect(results).toContainEqual({ ...target, target_id: admin.membershipId, n: 1 });
    expect((await createKey(world, {}, narrow)).project_ids).toEqual([project.id]);
  });

  it("does not learn which environments exist outside of its projects", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(await createKey(world, { project_ids: [project.id] }));
    const replyTo = async (id: string) => {
      const { status, text } = await narrow.post(keys, { name: "x", environment_ids: [id] });
      return [status, text];
    };
    const unknown = await replyTo(newId(systemClock));
    expect(unknown[0]).toBe(404);
    expect(await replyTo(other.default_environment_id)).toEqual(unknown);
    const inside = await narrow.post(keys, {
      name: "x",
      environment_ids: [project.default_environment_id],
    });
    expect(inside.status).toBe(201);
  });

  it("is refused with unknown scopes, and with environments of other projects", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    for (const fields of [
      { scopes: ["everything"] },
      { scopes: [] },
      { project_ids: [] },
      { project_ids: [project.id], environment_ids: [other.default_environment_id] },
    ]) {
      const { status, body } = await world.client.post(keys, { name: "x", ...fields });
      expect([status, body.code]).toEqual([400, "bad_input"]);
    }
  });

  it("expires no later than the other", async () => {
    const expires_at = at(DAY_MS);
    const parent = await createKey(world, { expires_at, scopes: ["keys:write"] });
    expect((await createKey(world, {}, clientOf(parent))).expires_at).toBe(expires_at);
    const earlier = await createKey(world, { expires_at: at(DAY_MS / 2) }, clientOf(parent));
    expect(Date.parse(earlier.expires_at)).toBeLessThan(Date.parse(expires_at));
    expect((await createKey(world, { expires_at }, clientOf(parent))).expires_at).toBe(expires_at);
    const later = new Date(Date.parse(expires_at) + 1).toISOString();
    const late = await clientOf(parent).post(keys, { name: "x", expires_at: later });
    expect([late.status, late.body.cause.issues[0].path]).toEqual([400, "expires_at"]);
    expect(late.body.message).toContain(expires_at);
  });

  it("is not created if the other is revoked meanwhile", async () => {
    const parent = await createKey(world);
    const racing = new Instrumented({ database: beforeBatch(2, () => deleteKey(parent.id)) });
    const { status, body } = await clientOf(parent).via(racing.fetch).post(keys, { name: "late" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    const { body: list } = await world.client.get(keys);
    expect(list.data.map(({ name }: Parsed) => name)).not.toContain("late");
  });
});

describe("a member without the role admin", () => {
  it("reads, renames, rotates and revokes the keys of the own membership only", async () => {
    const member = await join(world);
    const second = await newKey(world, { membershipId: member.membershipId, role: "member" });
    const { body: list } = await member.client.get(keys);
    expect(list.data.map(({ id }: Parsed) => id).toSorted()).toEqual(
      [member.keyId, second.keyId].toSorted(),
    );
    const path = `${keys}/${second.keyId}`;
    expect((await member.client.get(path)).status).toBe(200);
    const renamed = await member.client.patch(path, { name: "laptop" });
    expect([renamed.status, renamed.body.name]).toEqual([200, "laptop"]);
    const { body: rotated } = await member.client.post(`${path}/rotate`, {});
    expect(rotated.name).toBe("laptop");
    expect((await member.client.delete(`${keys}/${rotated.id}`)).status).toBe(204);
    const { body: revoked } = await member.client.get(`${keys}?status=revoked`);
    expect(revoked.data).toHaveLength(2);
    expect((await member.client.post(keys, { name: "x" })).body.code).toBe("unauthorized");
    expect(await keyRecordsOf(world)).toEqual([
      ["api_key.renamed", "laptop"],
      ["api_key.rotated", "laptop"],
      ["api_key.revoked", "laptop"],
    ]);
  });

  it("gets the same response for another's key and for an unknown one", async () => {
    const member = await join(world);
    for (const suffix of ["", "?descendants=revoke"]) {
      const replies = await Promise.all(
        [world.keyId, newId(systemClock)].map((id) =>
          member.client.request(suffix ? "DELETE" : "GET", `${keys}/${id}${suffix}`),
        ),
      );
      const [known, unknown] = replies.map(({ status, text }) => ({ status, text }));
      expect(known).toEqual(unknown);
      expect(known?.status).toBe(403);
    }
  });

  it("is like an admin whose key has boundaries, for whom the others do not exist", async () => {
    const project = await newProject(world.client);
    const member = await join(world);
    const narrow = await newKey(world, { projectIds: [project.id] });
    expect((await narrow.client.get(`${keys}/${member.keyId}`)).status).toBe(404);
    expect((await narrow.client.get(`${keys}/${world.keyId}`)).status).toBe(200);
    const { body } = await narrow.client.get(`${keys}?limit=240`);
    expect(body.data.map(({ id }: Parsed) => id)).not.toContain(member.keyId);
  });
});

describe("renaming a key", () => {
  it("is done only if the key still has the name that the record says it had", async () => {
    const { id } = await createKey(world, { name: "before" });
    const { client } = await newKey(world);
    const rename = () => client.patch(`${keys}/${id}`, { name: "first" });
    const racing = world.client.via(new Instrumented({ database: beforeBatch(2, rename) }).fetch);
    const late = await racing.patch(`${keys}/${id}`, { name: "second" });
    expect([late.status, late.body.code]).toEqual([409, "conflict"]);
    expect(late.body.message).toContain("just been renamed");
    const again = await racing.patch(`${keys}/${id}`, { name: "second" });
    expect([again.status, again.body.name]).toEqual([200, "second"]);
    expect(await changesOf("api_key.renamed")).toEqual([
      { before: { name: "before" }, after: { name: "first" } },
      { before: { name: "first" }, after: { name: "second" } },
    ]);
  });

  it("is not found if the key is revoked meanwhile", async () => {
    const { id } = await createKey(world);
    const racing = new Instrumented({ database: beforeBatch(2, () => deleteKey(id)) });
    const late = await world.client.via(racing.fetch).patch(`${keys}/${id}`, { name: "late" });
    expect([late.status, late.body.code]).toEqual([404, "not_found"]);
  });
});

describe("the maximum age of keys", () => {
  const policy = () => `/v1/orgs/${world.id}/api-key-policy`;

  it("is set by an owner, read by admins, and bounds new keys only", async () => {
    const admin = await join(world, "admin");
    const body = { max_age_seconds: 3_600 };
    expect((await admin.client.put(policy(), body)).body.code).toBe("unauthorized");
    expect((await world.client.put(policy(), body)).body).toEqual(body);
    expect((await admin.client.get(policy())).body).toEqual(body);
    const now = Date.now();
    const caller = world.client.via(new Instrumented({ clock: { now: () => now } }).fetch);
    const atAge = (ms: number) => new Date(now + ms).toISOString();
    for (const fields of [{}, { expires_at: atAge(3_600_000) }]) {
      expect((await createKey(world, fields, caller)).expires_at).toBe(atAge(3_600_000));
    }
    const late = await caller.post(keys, { name: "x", expires_at: atAge(3_600_001) });
    expect([late.status, late.body.cause.issues[0].path]).toEqual([400, "expires_at"]);
    expect(late.body.message).toContain("3600 seconds");
    expect((await world.client.get(`${keys}/${admin.keyId}`)).body).not.toHaveProperty(
      "expires_at",
    );
    const rotated = await world.client.post(`${keys}/${admin.keyId}/rotate`, {});
    expect(rotated.body).toHaveProperty("expires_at");
    expect((await world.client.put(policy(), { max_age_seconds: null })).body).toEqual({});
    expect(await createKey(world)).not.toHaveProperty("expires_at");
    const changes = (await keyRecordsOf(world)).filter(([action]) => action.includes("policy"));
    expect(changes).toHaveLength(2);
  });

  it("is set only if it is what the record says it was before", async () => {
    const { client } = await newKey(world);
    const lower = () => client.put(policy(), { max_age_seconds: 3_600 });
    const racing = new Instrumented({ database: beforeBatch(1, lower) });
    const late = await world.client.via(racing.fetch).put(policy(), { max_age_seconds: 7_200 });
    expect([late.status, late.body.code]).toEqual([409, "conflict"]);
    expect(late.body.message).toContain("just changed");
    expect((await client.get(policy())).body).toEqual({ max_age_seconds: 3_600 });
    expect(await changesOf("organization.key_policy_changed")).toEqual([
      { before: {}, after: { max_age_seconds: 3_600 } },
    ]);
    expect((await client.put(policy(), { max_age_seconds: null })).status).toBe(200);
    expect((await changesOf("organization.key_policy_changed")).at(-1)).toEqual({
      before: { max_age_seconds: 3_600 },
      after: {},
    });
  });

  it("leaves the last owner's key without an expiry, also when it is rotated", async () => {
    await world.client.put(policy(), { max_age_seconds: 3_600 });
    const { status, body } = await world.client.post(`${keys}/${world.keyId}/rotate`, {});
    expect(status).toBe(201);
    expect(body).not.toHaveProperty("expires_at");
  });

  it.each([0, 3_599, 157_680_001, 1.5, "3600", undefined])("cannot be %s", async (value) => {
    const { status } = await world.client.put(policy(), { max_age_seconds: value });
    expect(status).toBe(400);
  });
});

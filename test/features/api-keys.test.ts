import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client, type Parsed } from "../support/client.ts";
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

async function create(client: Client, fields: object = {}): Promise<Parsed> {
  const reply = await client.post(keys, { name: "test", ...fields });
  expect(reply.status, reply.text).toBe(201);
  return reply.body;
}

const clientOf = ({ key }: Parsed) => new Client(key);
const statusOf = async (client: Client) => (await client.get("/v1/orgs")).status;

/** The actions on record, oldest first, with the names of their targets. */
async function recordsOf(): Promise<[string, string | null][]> {
  const { results } = await env.DB.prepare(
    "select action, target_name, outcome from audit_log where organization_id = ? order by id",
  )
    .bind(world.id)
    .all<{ action: string; target_name: string | null; outcome: string }>();
  return results
    .filter(({ action }) => /^api_key|^escalation|policy/.test(action))
    .map(({ action, target_name }) => [action, target_name]);
}

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
      const created = await create(world.client, { membership_id, role: "member" });
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
    const narrow = await create(world.client, {
      scopes: ["keys:write", "projects:read"],
      environment_ids: [environment],
    });
    expect(narrow).toMatchObject({
      scopes: ["keys:write", "projects:read"],
      project_ids: [project.id],
      environment_ids: [environment],
      created_by: { key_id: world.keyId, membership_id: world.membershipId },
    });
    const child = await create(clientOf(narrow));
    expect(child).toMatchObject({
      scopes: narrow.scopes,
      project_ids: narrow.project_ids,
      environment_ids: narrow.environment_ids,
      created_by: { key_id: narrow.id },
    });
    const less = await create(clientOf(narrow), { scopes: ["keys:read"] });
    expect(less.scopes).toEqual(["keys:read"]);
    expect(await create(world.client)).not.toHaveProperty("scopes");
    const { client: admin } = await newKey(world, { role: "admin" });
    expect((await admin.post(keys, { name: "of less" })).body.role).toBe("admin");
    expect(await recordsOf()).toHaveLength(5);
  });

  it("cannot have more, and the refusal names what exceeds and is on record", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(
      await create(world.client, { scopes: ["keys:write"], project_ids: [project.id] }),
    );
    const environment = clientOf(
      await create(world.client, { environment_ids: [project.default_environment_id] }),
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
    expect((await create(narrow)).project_ids).toEqual([project.id]);
  });

  it("does not learn which environments exist outside of its projects", async () => {
    const [project, other] = [await newProject(world.client), await newProject(world.client)];
    const narrow = clientOf(await create(world.client, { project_ids: [project.id] }));
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
    const parent = await create(world.client, { expires_at, scopes: ["keys:write"] });
    expect((await create(clientOf(parent))).expires_at).toBe(expires_at);
    const earlier = await create(clientOf(parent), { expires_at: at(DAY_MS / 2) });
    expect(Date.parse(earlier.expires_at)).toBeLessThan(Date.parse(expires_at));
    expect((await create(clientOf(parent), { expires_at })).expires_at).toBe(expires_at);
    const later = new Date(Date.parse(expires_at) + 1).toISOString();
    const late = await clientOf(parent).post(keys, { name: "x", expires_at: later });
    expect([late.status, late.body.cause.issues[0].path]).toEqual([400, "expires_at"]);
    expect(late.body.message).toContain(expires_at);
  });

  it("is not created if the other is revoked meanwhile", async () => {
    const parent = await create(world.client);
    const racing = new Instrumented({ database: beforeBatch(2, () => deleteKey(parent.id)) });
    const { status, body } = await clientOf(parent).via(racing.fetch).post(keys, { name: "late" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    const { body: list } = await world.client.get(keys);
    expect(list.data.map(({ name }: Parsed) => name)).not.toContain("late");
  });
});

describe("revoking a key", () => {
  it("that has descendants needs to be told what happens to them", async () => {
    const first = await create(world.client);
    const second = await create(clientOf(first));
    const path = `${keys}/${first.id}`;
    const { status, body } = await world.client.delete(path);
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect(body.message).toContain("descendants=revoke");
    expect((await world.client.delete(`${path}?descendants=all`)).status).toBe(400);
    expect((await world.client.delete(`${path}?descendants=keep`)).status).toBe(204);
    expect(await statusOf(clientOf(first))).toBe(401);
    expect(await statusOf(clientOf(second))).toBe(200);
    expect((await world.client.delete(`${keys}/${second.id}`)).status).toBe(204);
    expect((await world.client.delete(`${keys}/${second.id}`)).status).toBe(404);
  });

  it("revokes all that descend from it, also through revoked keys, on the next request everywhere", async () => {
    const isolates = [new Instrumented(), new Instrumented(), new Instrumented()];
    const first = await create(world.client);
    const generations = [[first]];
    for (const size of [3, 6, 12]) {
      const parents = generations.at(-1) ?? [];
      const next: Parsed[] = [];
      for (let n = 0; n < size; n += 1) {
        next.push(await create(clientOf(parents[n % parents.length])));
      }
      generations.push(next);
    }
    const [revoked] = generations[1] ?? [];
    await world.client.delete(`${keys}/${revoked.id}?descendants=keep`);
    const descendants = generations.flat().filter(({ id }) => id !== revoked.id);
    const sibling = await create(world.client);
    const statuses = async (all: Parsed[]) => {
      const found = new Set<number>();
      for (const each of all) {
        for (const { fetch } of isolates) found.add(await statusOf(clientOf(each).via(fetch)));
      }
      return [...found];
    };
    expect(await statuses([...descendants, sibling])).toEqual([200]);
    const reply = await world.client.delete(`${keys}/${first.id}?descendants=revoke`);
    expect(reply.status).toBe(204);
    expect(await statuses(descendants)).toEqual([401]);
    expect(await statuses([sibling])).toEqual([200]);
    const { body: tombstones } = await world.client.get(`${keys}?status=revoked&limit=240`);
    expect(tombstones.data).toHaveLength(generations.flat().length);
    const records = (await recordsOf()).filter(([action]) => action === "api_key.revoked");
    expect(records).toHaveLength(generations.flat().length);
  });

  it("that is revoked already revokes what remains of its descendants", async () => {
    const first = await create(world.client);
    const second = await create(clientOf(first));
    await world.client.delete(`${keys}/${first.id}?descendants=keep`);
    const path = `${keys}/${first.id}?descendants=revoke`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusOf(clientOf(second))).toBe(401);
  });

  it("keeps the last owner's key, also among those that descend from it", async () => {
    const second = await create(world.client);
    const path = `${keys}/${world.keyId}?descendants=revoke`;
    expect((await clientOf(second).delete(path)).body.code).toBe("conflict");
    expect(await statusOf(clientOf(second))).toBe(200);
    const narrow = await newKey(world, { scopes: ["keys:write"] });
    expect((await narrow.client.delete(path)).body.code).toBe("unauthorized");
    await newKey(world);
    expect((await clientOf(second).delete(path)).status).toBe(204);
  });

  it("leaves what an admin can read of it, and says who revoked it", async () => {
    const { id } = await create(world.client, { name: "gone" });
    await world.client.delete(`${keys}/${id}`);
    const { body } = await world.client.get(`${keys}/${id}`);
    expect(body).toMatchObject({
      name: "gone",
      revoked_by: { key_id: world.keyId, membership_id: world.membershipId },
      revoked_at: expect.any(String),
    });
    expect(body).not.toHaveProperty("scopes");
    const idsOf = async (query: string) =>
      (await world.client.get(`${keys}${query}`)).body.data.map((each: Parsed) => each.id);
    expect(await idsOf("")).toEqual([world.keyId]);
    expect(await idsOf("?status=revoked")).toEqual([id]);
    expect((await world.client.get(`${keys}?status=gone`)).status).toBe(400);
    for (const reply of [
      await world.client.patch(`${keys}/${id}`, { name: "x" }),
      await world.client.post(`${keys}/${id}/rotate`, {}),
    ]) {
      expect(reply.status).toBe(404);
    }
  });
});

describe("rotating a key", () => {
  const rotate = (client: Client, id: string, body: object = {}) =>
    client.post(`${keys}/${id}/rotate`, body);

  it("replaces it at once, with its authority, its lineage and its descendants", async () => {
    const project = await newProject(world.client);
    const old = await create(world.client, {
      name: "ci",
      scopes: ["keys:write"],
      project_ids: [project.id],
      expires_at: at(DAY_MS),
    });
    const child = await create(clientOf(old));
    const { status, body: rotated } = await rotate(world.client, old.id);
    expect(status).toBe(201);
    const { id, key, last_four, created_at, ...same } = rotated;
    expect(old).toMatchObject(same);
    expect(await statusOf(clientOf(old))).toBe(401);
    expect(await statusOf(clientOf(rotated))).toBe(200);
    const { body: carried } = await world.client.get(`${keys}/${child.id}`);
    expect(carried.created_by.key_id).toBe(id);
    expect((await world.client.get(`${keys}/${old.id}`)).body).toHaveProperty("revoked_at");
    const path = `${keys}/${id}?descendants=revoke`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusOf(clientOf(child))).toBe(401);
    expect(await recordsOf()).toContainEqual(["api_key.rotated", "ci"]);
  });

  it("with an overlap, lets the old one expire after it, also where it is cached", async () => {
    let now = Date.now();
    const isolate = new Instrumented({ clock: { now: () => now } });
    const old = await create(world.client, { scopes: ["organization:read"] });
    const cached = clientOf(old).via(isolate.fetch);
    expect(await statusOf(cached)).toBe(200);
    const admin = world.client.via(isolate.fetch);
    const { body: rotated } = await rotate(admin, old.id, { overlap_seconds: 60 });
    expect(rotated).not.toHaveProperty("expires_at");
    now += 59_999;
    expect(await statusOf(cached)).toBe(200);
    now += 1;
    expect(await statusOf(cached)).toBe(401);
    expect(await statusOf(clientOf(rotated).via(isolate.fetch))).toBe(200);
    // The old key descends from the new one during the overlap.
    const { body } = await world.client.get(`${keys}/${old.id}`);
    expect(body.created_by.key_id).toBe(rotated.id);
    const again = await rotate(admin, rotated.id, { overlap_seconds: 60 });
    expect(again.status).toBe(201);
    expect((await world.client.get(`${keys}/${old.id}`)).body).toHaveProperty("revoked_at");
  });

  it("is refused with an overlap over a day or below 0", async () => {
    for (const overlap_seconds of [-1, 86_401, 1.5, "1"]) {
      const { status } = await rotate(world.client, world.keyId, { overlap_seconds });
      expect(status).toBe(400);
    }
  });

  it("works for the last owner's key and for itself, which never loses its owner", async () => {
    expect((await rotate(world.client, world.keyId, { expires_at: at(DAY_MS) })).status).toBe(409);
    const { status, body } = await rotate(world.client, world.keyId);
    expect([status, body.role]).toEqual([201, "owner"]);
    expect(await statusOf(world.client)).toBe(401);
    expect(await statusOf(clientOf(body))).toBe(200);
  });

  it("works where no more keys may be created, unless both remain", async () => {
    const { membershipId } = await join(world);
    const fill = Array.from({ length: 99 }, () => newKey(world, { membershipId, role: "member" }));
    const [first] = await Promise.all(fill);
    const id = String(first?.keyId);
    expect((await rotate(world.client, id, { overlap_seconds: 1 })).body.code).toBe("conflict");
    expect((await rotate(world.client, id)).status).toBe(201);
  });

  it("is refused to a key that has less, except for itself", async () => {
    const strong = await create(world.client);
    const weak = clientOf(await create(world.client, { scopes: ["keys:write"] }));
    const refused = await rotate(weak, strong.id);
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect(refused.body.message).toContain("can only rotate itself");
    expect(await statusOf(clientOf(strong))).toBe(200);
    const admin = await join(world, "admin");
    expect((await rotate(admin.client, world.keyId)).body.code).toBe("unauthorized");
    const ofOwner = await admin.client.delete(`${keys}/${world.keyId}`);
    expect(ofOwner.body.code).toBe("unauthorized");
    expect((await rotate(admin.client, admin.keyId)).status).toBe(201);
    expect((await recordsOf()).filter(([action]) => action === "escalation.refused")).toHaveLength(
      2,
    );
  });

  it("does not extend the life of the key that asks for it, nor shorten that of a parent", async () => {
    const expires_at = at(DAY_MS);
    const expiring = await create(world.client, { expires_at });
    const longer = { expires_at: at(2 * DAY_MS) };
    expect((await rotate(clientOf(expiring), expiring.id, longer)).status).toBe(400);
    await create(clientOf(expiring));
    const shorter = { expires_at: at(DAY_MS / 2) };
    expect((await rotate(world.client, expiring.id, shorter)).body.code).toBe("conflict");
    expect((await rotate(world.client, expiring.id, longer)).status).toBe(201);
  });

  it.each([
    ["full", {}],
    ["narrowed", { scopes: ["keys:write"] }],
  ])("gives a key that expires when its parent does, and not later: %s", async (_, fields) => {
    const expires_at = at(DAY_MS);
    const parent = await create(world.client, { expires_at, ...fields });
    const { id } = await create(clientOf(parent));
    const { status, body } = await rotate(world.client, id);
    expect([status, body.expires_at]).toEqual([201, expires_at]);
    const later = new Date(Date.parse(expires_at) + 1).toISOString();
    expect((await rotate(world.client, body.id, { expires_at: later })).status).toBe(400);
    expect((await rotate(world.client, body.id, { expires_at })).status).toBe(201);
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
    expect(await recordsOf()).toEqual([
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
    const { id } = await create(world.client, { name: "before" });
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
    const { id } = await create(world.client);
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
      expect((await create(caller, fields)).expires_at).toBe(atAge(3_600_000));
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
    expect(await create(world.client)).not.toHaveProperty("expires_at");
    const changes = (await recordsOf()).filter(([action]) => action.includes("policy"));
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

describe("rotation and revocation", () => {
  it("revoking a key with its descendants reaches the key that it was rotated to, and those it created", async () => {
    for (const overlap_seconds of [0, 3_600]) {
      const leaked = await create(world.client);
      const child = await create(clientOf(leaked));
      const reply = await clientOf(leaked).post(`${keys}/${leaked.id}/rotate`, { overlap_seconds });
      const successor = reply.body;
      const path = `${keys}/${leaked.id}?descendants=revoke`;
      expect((await world.client.delete(path)).status).toBe(204);
      for (const key of [leaked, child, successor]) expect(await statusOf(clientOf(key))).toBe(401);
    }
    expect(await statusOf(world.client)).toBe(200);
  });

  it("a key that expires rotates no other key to one that lives longer", async () => {
    const lasting = await create(world.client);
    const expiring = await create(world.client, { expires_at: at(DAY_MS) });
    const rotate = `${keys}/${lasting.id}/rotate`;
    const refused = await clientOf(expiring).post(rotate, {});
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect(await statusOf(clientOf(lasting))).toBe(200);
    expect((await world.client.post(rotate, {})).status).toBe(201);
  });

  it("of a revoked key says that the last owner's key remains, instead of revoking nothing", async () => {
    const owner = await create(world.client);
    const child = await create(world.client, { role: "admin" });
    const kept = `${keys}/${world.keyId}?descendants=keep`;
    expect((await clientOf(owner).delete(kept)).status).toBe(204);
    const all = await clientOf(owner).delete(`${keys}/${world.keyId}?descendants=revoke`);
    expect([all.status, all.body.code]).toEqual([409, "conflict"]);
    expect(await statusOf(clientOf(child))).toBe(200);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { clientOf, createKey, keyRecordsOf, statusOf } from "../support/api-keys.ts";
import type { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

const DAY_MS = 86_400_000;
const at = (offset: number) => new Date(Date.now() + offset).toISOString();

let world: World;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
});

describe("rotating a key", () => {
  const rotate = (client: Client, id: string, body: object = {}) =>
    client.post(`${keys}/${id}/rotate`, body);

  it("replaces it at once, with its authority, its lineage and its descendants", async () => {
    const project = await newProject(world.client);
    const old = await createKey(world, {
      name: "ci",
      scopes: ["keys:write"],
      project_ids: [project.id],
      expires_at: at(DAY_MS),
    });
    const child = await createKey(world, {}, clientOf(old));
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
    expect(await keyRecordsOf(world)).toContainEqual(["api_key.rotated", "ci"]);
  });

  it("with an overlap, lets the old one expire after it, also where it is cached", async () => {
    let now = Date.now();
    const isolate = new Instrumented({ clock: { now: () => now } });
    const old = await createKey(world, { scopes: ["organization:read"] });
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
    const strong = await createKey(world);
    const weak = clientOf(await createKey(world, { scopes: ["keys:write"] }));
    const refused = await rotate(weak, strong.id);
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect(refused.body.message).toContain("can only rotate itself");
    expect(await statusOf(clientOf(strong))).toBe(200);
    const admin = await join(world, "admin");
    expect((await rotate(admin.client, world.keyId)).body.code).toBe("unauthorized");
    const ofOwner = await admin.client.delete(`${keys}/${world.keyId}`);
    expect(ofOwner.body.code).toBe("unauthorized");
    expect((await rotate(admin.client, admin.keyId)).status).toBe(201);
    expect(
      (await keyRecordsOf(world)).filter(([action]) => action === "escalation.refused"),
    ).toHaveLength(2);
  });

  it("does not extend the life of the key that asks for it, nor shorten that of a parent", async () => {
    const expires_at = at(DAY_MS);
    const expiring = await createKey(world, { expires_at });
    const longer = { expires_at: at(2 * DAY_MS) };
    expect((await rotate(clientOf(expiring), expiring.id, longer)).status).toBe(400);
    await createKey(world, {}, clientOf(expiring));
    const shorter = { expires_at: at(DAY_MS / 2) };
    expect((await rotate(world.client, expiring.id, shorter)).body.code).toBe("conflict");
    expect((await rotate(world.client, expiring.id, longer)).status).toBe(201);
  });

  it.each([
    ["full", {}],
    ["narrowed", { scopes: ["keys:write"] }],
  ])("gives a key that expires when its parent does, and not later: %s", async (_, fields) => {
    const expires_at = at(DAY_MS);
    const parent = await createKey(world, { expires_at, ...fields });
    const { id } = await createKey(world, {}, clientOf(parent));
    const { status, body } = await rotate(world.client, id);
    expect([status, body.expires_at]).toEqual([201, expires_at]);
    const later = new Date(Date.parse(expires_at) + 1).toISOString();
    expect((await rotate(world.client, body.id, { expires_at: later })).status).toBe(400);
    expect((await rotate(world.client, body.id, { expires_at })).status).toBe(201);
  });
});

describe("rotation and revocation", () => {
  it("revoking a key with its descendants reaches the key that it was rotated to, and those it created", async () => {
    for (const overlap_seconds of [0, 3_600]) {
      const leaked = await createKey(world);
      const child = await createKey(world, {}, clientOf(leaked));
      const reply = await clientOf(leaked).post(`${keys}/${leaked.id}/rotate`, { overlap_seconds });
      const successor = reply.body;
      const path = `${keys}/${leaked.id}?descendants=revoke`;
      expect((await world.client.delete(path)).status).toBe(204);
      for (const key of [leaked, child, successor]) expect(await statusOf(clientOf(key))).toBe(401);
    }
    expect(await statusOf(world.client)).toBe(200);
  });

  it("a key that expires rotates no other key to one that lives longer", async () => {
    const lasting = await createKey(world);
    const expiring = await createKey(world, { expires_at: at(DAY_MS) });
    const rotate = `${keys}/${lasting.id}/rotate`;
    const refused = await clientOf(expiring).post(rotate, {});
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect(await statusOf(clientOf(lasting))).toBe(200);
    expect((await world.client.post(rotate, {})).status).toBe(201);
  });

  it("of a revoked key says that the last owner's key remains, instead of revoking nothing", async () => {
    const owner = await createKey(world);
    const child = await createKey(world, { role: "admin" });
    const kept = `${keys}/${world.keyId}?descendants=keep`;
    expect((await clientOf(owner).delete(kept)).status).toBe(204);
    const all = await clientOf(owner).delete(`${keys}/${world.keyId}?descendants=revoke`);
    expect([all.status, all.body.code]).toEqual([409, "conflict"]);
    expect(await statusOf(clientOf(child))).toBe(200);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { clientOf, createKey, keyRecordsOf, statusOf } from "../support/api-keys.ts";
import type { Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { newKey, newWorld, type World } from "../support/world.ts";

let world: World;
let keys: string;

beforeEach(async () => {
  world = await newWorld();
  keys = `/v1/orgs/${world.id}/api-keys`;
});

describe("revoking a key", () => {
  it("that has descendants needs to be told what happens to them", async () => {
    const first = await createKey(world);
    const second = await createKey(world, {}, clientOf(first));
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
    const first = await createKey(world);
    const generations = [[first]];
    for (const size of [3, 6, 12]) {
      const parents = generations.at(-1) ?? [];
      const next: Parsed[] = [];
      for (let n = 0; n < size; n += 1) {
        next.push(await createKey(world, {}, clientOf(parents[n % parents.length])));
      }
      generations.push(next);
    }
    const [revoked] = generations[1] ?? [];
    await world.client.delete(`${keys}/${revoked.id}?descendants=keep`);
    const descendants = generations.flat().filter(({ id }) => id !== revoked.id);
    const sibling = await createKey(world);
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
    const records = (await keyRecordsOf(world)).filter(([action]) => action === "api_key.revoked");
    expect(records).toHaveLength(generations.flat().length);
  });

  it("that is revoked already revokes what remains of its descendants", async () => {
    const first = await createKey(world);
    const second = await createKey(world, {}, clientOf(first));
    await world.client.delete(`${keys}/${first.id}?descendants=keep`);
    const path = `${keys}/${first.id}?descendants=revoke`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusOf(clientOf(second))).toBe(401);
  });

  it("keeps the last owner's key, also among those that descend from it", async () => {
    const second = await createKey(world);
    const path = `${keys}/${world.keyId}?descendants=revoke`;
    expect((await clientOf(second).delete(path)).body.code).toBe("conflict");
    expect(await statusOf(clientOf(second))).toBe(200);
    const narrow = await newKey(world, { scopes: ["keys:write"] });
    expect((await narrow.client.delete(path)).body.code).toBe("unauthorized");
    await newKey(world);
    expect((await clientOf(second).delete(path)).status).toBe(204);
  });

  it("leaves what an admin can read of it, and says who revoked it", async () => {
    const { id } = await createKey(world, { name: "gone" });
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

import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../src/lib/digest.ts";
import { BASE62, encodeRadix, toBigInt } from "../../src/lib/radix.ts";
import { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newProject,
  newToken,
  newWorld,
  type Pool,
  type World,
} from "../support/world.ts";

const HOUR_MS = 3_600_000;
/** More than one batch of invalidations. */
const MANY = 60;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

/** The distinct statuses of one request with each credential. */
async function statusesOf(clients: readonly Client[], path: string): Promise<number[]> {
  const statuses = new Set<number>();
  for (const client of clients) statuses.add((await client.get(path)).status);
  return [...statuses];
}

/** A whole hour after what has just been created, because a last use is never shown before it. */
function hourAfterCreation(): number {
  return (Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS;
}

/** Uses the credential in two isolates, one of which is two hours behind. */
async function expectNewestUse(
  client: Client,
  path: string,
  lastUse: () => Promise<string | undefined>,
): Promise<void> {
  const start = hourAfterCreation() + HOUR_MS;
  const clocks = { slow: start - 10_000, fast: start + 2 * HOUR_MS };
  const slow = client.via(new Instrumented({ clock: { now: () => clocks.slow } }).fetch);
  const fast = client.via(new Instrumented({ clock: { now: () => clocks.fast } }).fetch);
  await slow.get(path);
  expect(await lastUse()).toBe(new Date(start - HOUR_MS).toISOString());
  await fast.get(path);
  const newest = new Date(clocks.fast).toISOString();
  expect(await lastUse()).toBe(newest);
  // The next hour, while the isolate still has the credential as it was before the newest use.
  clocks.slow += 20_000;
  await slow.get(path);
  expect(await lastUse()).toBe(newest);
  clocks.fast += HOUR_MS;
  await fast.get(path);
  expect(await lastUse()).toBe(new Date(clocks.fast).toISOString());
}

describe("a key", () => {
  it("that is revoked is refused on its next request, in every isolate", async () => {
    const isolates = [new Instrumented(), new Instrumented(), new Instrumented()];
    const { client, keyId } = await newKey(world);
    for (const { fetch } of isolates)
      expect((await client.via(fetch).get("/v1/orgs")).status).toBe(200);
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    for (const { fetch } of isolates) {
      const { status, headers } = await client.via(fetch).get("/v1/orgs");
      expect(status).toBe(401);
      expect(headers.has("x-ratelimit-limit")).toBe(false);
      expect(headers.has("x-d1-bookmark")).toBe(false);
    }
  });

  it("that revokes itself gets that response, and is refused afterwards", async () => {
    const { client, keyId } = await newKey(world);
    expect((await client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`)).status).toBe(204);
    expect((await client.get("/v1/orgs")).status).toBe(401);
  });

  it("of a member who is demoted has the lower role on its next request, read or write", async () => {
    const isolates = [new Instrumented(), new Instrumented()];
    const admin = await join(world, "admin");
    const keys = `/v1/orgs/${world.id}/api-keys`;
    const members = `/v1/orgs/${world.id}/members`;
    const [reader, writer] = isolates.map(({ fetch }) => admin.client.via(fetch));
    if (!reader || !writer) throw new Error("There are two isolates");
    expect((await reader.get(members)).status).toBe(200);
    expect((await writer.post(keys, { name: "before" })).status).toBe(201);
    await world.client.put(`/v1/orgs/${world.id}/members/${admin.membershipId}`, {
      role: "member",
    });
    expect((await reader.get(members)).body.code).toBe("unauthorized");
    expect((await writer.post(keys, { name: "after" })).body.code).toBe("unauthorized");
  });

  it("loses the role with all other keys of a member who is demoted, and is refused with them", async () => {
    const organization = await newWorld();
    const members = `/v1/orgs/${organization.id}/members`;
    const { membershipId } = await join(organization, "admin");
    const clients: Client[] = [];
    for (let at = 0; at < MANY; at += 1) {
      clients.push((await newKey(organization, { membershipId, role: "admin" })).client);
    }
    const other = await join(organization, "admin");
    expect(await statusesOf(clients, members)).toEqual([200]);
    await organization.client.put(`${members}/${membershipId}`, { role: "member" });
    expect(await statusesOf(clients, members)).toEqual([403]);
    await organization.client.delete(`${members}/${membershipId}`);
    expect(await statusesOf(clients, members)).toEqual([401]);
    expect((await other.client.get(members)).status).toBe(200);
  });

  it("of a member who is removed is refused on its next request", async () => {
    const isolate = new Instrumented();
    const member = await join(world);
    const client = member.client.via(isolate.fetch);
    expect((await client.get("/v1/projects")).status).toBe(200);
    await world.client.delete(`/v1/orgs/${world.id}/members/${member.membershipId}`);
    expect((await client.get("/v1/projects")).status).toBe(401);
  });

  it("that is cached is refused from the moment it expires", async () => {
    let now = Date.now();
    const isolate = new Instrumented({ clock: { now: () => now } });
    const { client } = await newKey(world, { expiresAt: now + 5_000 });
    const caller = client.via(isolate.fetch);
    expect((await caller.get("/v1/orgs")).status).toBe(200);
    now += 4_999;
    expect((await caller.get("/v1/orgs")).status).toBe(200);
    now += 1;
    expect((await caller.get("/v1/orgs")).status).toBe(401);
  });

  it("is read again after 30 seconds, and its last use is recorded once an hour", async () => {
    let now = hourAfterCreation();
    const isolate = new Instrumented({ clock: { now: () => now } });
    const { client, keyId } = await newKey(world);
    const caller = client.via(isolate.fetch);
    const lastUse = async () =>
      (await world.client.get(`/v1/orgs/${world.id}/api-keys/${keyId}`)).body.last_used_at;
    expect(await lastUse()).toBeUndefined();
    await caller.get("/v1/orgs");
    expect(await lastUse()).toBe(new Date(now).toISOString());
    const tripsAfter = async (milliseconds: number) => {
      isolate.forget();
      now += milliseconds;
      await caller.get("/v1/orgs");
      return isolate.database.length;
    };
    expect(await tripsAfter(29_999)).toBe(1);
    expect(await tripsAfter(1)).toBe(2);
    expect(await tripsAfter(3_600_000)).toBe(3);
    expect(await lastUse()).toBe(new Date(now - (now % 3_600_000)).toISOString());
  });

  it("keeps its newest use when an isolate with a slow clock reports an older one", async () => {
    const { client, keyId } = await newKey(world);
    const path = `/v1/orgs/${world.id}/api-keys/${keyId}`;
    const lastUse = async () => (await world.client.get(path)).body.last_used_at;
    await expectNewestUse(client, "/v1/orgs", lastUse);
  });

  it("with the ID of a valid key, another secret and a correct checksum is refused", async () => {
    const { client, keyId } = await newKey(world);
    const unchecked = `lsh_${keyId}_${"0".repeat(43)}`;
    const digest = new Uint8Array(await sha256(unchecked), 0, 4);
    const forged = `${unchecked}${encodeRadix(toBigInt(digest), BASE62, 6)}`;
    const isolate = new Instrumented();
    expect((await client.via(isolate.fetch).get("/v1/orgs")).status).toBe(200);
    isolate.forget();
    expect((await new Client(forged, isolate.fetch).get("/v1/orgs")).status).toBe(401);
    // The key is well-formed, so it is looked up.
    expect(isolate.database).not.toEqual([]);
  });

  it("gets the same response whether it is missing, malformed, unknown, revoked or expired", async () => {
    const revoked = await newKey(world);
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${revoked.keyId}`);
    const expired = await newKey(world, { expiresAt: Date.now() - 1 });
    const keys = [undefined, "lsh_nonsense", revoked.client.key, expired.client.key];
    const answers = keys.map(async (key) => (await new Client(key).get("/v1/orgs")).text);
    expect(new Set(await Promise.all(answers)).size).toBe(1);
  });
});

describe("a key that ends during its request", () => {
  it("gets the response of a key that never existed", async () => {
    const isolate = new Instrumented();
    const { client, membershipId, keyId } = await join(world);
    const cached = client.via(isolate.fetch);
    expect((await cached.get("/v1/account")).status).toBe(200);
    // Behind the caches of the isolate, as by a request that this one overtakes.
    await env.DB.batch([
      env.DB.prepare("delete from api_keys where id = ?").bind(keyId),
      env.DB.prepare("delete from memberships where id = ?").bind(membershipId),
    ]);
    const unknown = await new Client(undefined).get("/v1/account");
    const headersOf = ({ headers }: typeof unknown) =>
      [...headers.keys()].filter((name) => name !== "x-request-id");
    const ended = await cached.get("/v1/account");
    expect([ended.status, ended.text]).toEqual([401, unknown.text]);
    expect(headersOf(ended)).toEqual(headersOf(unknown));
  });
});

describe("a runner token", () => {
  const ATTEMPTS = "/v1/runner/attempts";
  let pool: Pool;

  beforeEach(async () => {
    pool = await newPool(world, [(await newProject(world.client)).default_environment_id]);
  });

  it("is refused on its next request once its pool is deleted, like all others of the pool", async () => {
    const clients = [pool.runner];
    while (clients.length < MANY) clients.push((await newToken(world, pool)).runner);
    const { runner: other } = await newPool(world, [
      (await newProject(world.client)).default_environment_id,
    ]);
    expect(await statusesOf([...clients, other], ATTEMPTS)).toEqual([200]);
    const path = `/v1/orgs/${world.id}/runner-pools/${pool.id}`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await statusesOf(clients, ATTEMPTS)).toEqual([401]);
    expect((await other.get(ATTEMPTS)).status).toBe(200);
  });

  it("stays valid if its pool cannot be deleted, because a runner executes a deployment", async () => {
    const { pool: busy, environmentId } = await newDeployableProject(world);
    await newDeployment(world.client, environmentId);
    await Attempt.started(busy.runner);
    const path = `/v1/orgs/${world.id}/runner-pools/${busy.id}`;
    expect((await world.client.delete(path)).status).toBe(409);
    expect((await busy.runner.get(ATTEMPTS)).status).toBe(200);
  });

  it("is refused on its next request once it is revoked, and no other of its pool", async () => {
    const { runner, tokenId } = await newToken(world, pool);
    expect(await statusesOf([runner, pool.runner], ATTEMPTS)).toEqual([200]);
    const path = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens/${tokenId}`;
    expect((await world.client.delete(path)).status).toBe(204);
    expect((await runner.get(ATTEMPTS)).status).toBe(401);
    expect((await pool.runner.get(ATTEMPTS)).status).toBe(200);
  });

  it("keeps its newest use when an isolate with a slow clock reports an older one", async () => {
    const lastUse = async () => {
      const used = await env.DB.prepare("select last_used_at from runner_tokens where id = ?")
        .bind(pool.tokenId)
        .first<number>("last_used_at");
      return used === null ? undefined : new Date(used).toISOString();
    };
    await expectNewestUse(pool.runner, ATTEMPTS, lastUse);
  });
});

describe("a bookmark", () => {
  it("is in every response that used the database, and a later request may send it", async () => {
    const { client } = await newKey(world);
    const { id } = await newProject(client);
    const { headers } = await client.get(`/v1/projects/${id}`);
    const bookmark = String(headers.get("x-d1-bookmark"));
    expect(bookmark).not.toBe("null");
    const isolate = new Instrumented();
    const again = await client.via(isolate.fetch).get("/v1/orgs", { "x-d1-bookmark": bookmark });
    expect(again.status).toBe(200);
    expect(isolate.database.map(({ constraint }) => constraint)).toContain(bookmark);
  });

  it("that is malformed is bad input", async () => {
    const { client } = await newKey(world);
    const reply = await client.get("/v1/orgs", { "x-d1-bookmark": "first-primary; drop" });
    expect(reply.status).toBe(400);
    expect(reply.body.cause.issues[0].path).toBe("X-D1-Bookmark");
  });
});

import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import {
  admitCredentials,
  type CredentialScope,
  listCredentials,
} from "../../scripts/lib/recovery.ts";
import { parseApiKey } from "../../src/features/identity/api-keys/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { rememberDatabase } from "../support/backups.ts";
import type { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  join,
  newKey,
  newPool,
  newProject,
  newToken,
  newWorld,
  signIn,
  type World,
} from "../support/world.ts";

/** Longer than isolates cache a key. */
const UNCACHED_MS = 31_000;

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

/** The status in an isolate with an empty cache. */
async function statusOf(client: Client, path = "/v1/projects", isolate = new Instrumented()) {
  return (await client.via(isolate.fetch).get(path)).status;
}

async function admit(scope: CredentialScope): Promise<void> {
  await admitCredentials(env.DB, systemClock, await listCredentials(env.DB, scope));
}

async function auditedActions(recordId: string): Promise<string[]> {
  const { results } = await env.DB.prepare(
    "select action from audit_log where target_id = ? order by id",
  )
    .bind(recordId)
    .all<{ action: string }>();
  return results.map(({ action }) => action);
}

describe("a database that is restored to a time before", () => {
  it("a key was revoked does not revive it, until an operator admits it", async () => {
    const { client, keyId } = await newKey(world);
    const other = await newKey(world);
    expect(await statusOf(client)).toBe(200);
    const travelBack = await rememberDatabase();
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    await travelBack();
    let now = Date.now();
    const isolate = new Instrumented({ clock: { now: () => now } });
    expect(await statusOf(client, undefined, isolate)).toBe(401);
    now += UNCACHED_MS;
    expect(await statusOf(client, undefined, isolate)).toBe(401);
    const { secretHash = "" } = (await parseApiKey(String(client.key))) ?? {};
    await evictDurableObject(env.RATE_LIMITER.getByName(secretHash));
    now += UNCACHED_MS;
    expect(await statusOf(client, undefined, isolate)).toBe(401);
    expect(isolate.logged.filter(({ event }) => event === "key.version_behind")).toMatchObject(
      Array(3).fill({ level: "error", fields: { key_id: keyId, version: 1 } }),
    );
    expect(await statusOf(other.client)).toBe(200);
    await admit({ ids: [keyId] });
    expect(await statusOf(client, undefined, isolate)).toBe(200);
    expect(await auditedActions(keyId)).toEqual(["credential.admitted"]);
    await other.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    expect(await statusOf(client, undefined, isolate)).toBe(401);
  });

  it("a session was revoked or a link was used does not revive them, also once their key is admitted", async () => {
    const key = await newKey(world);
    const other = await signIn(await newKey(world));
    const { client } = await signIn(key);
    const { body: link } = await key.client.post("/v1/sign-in-links", undefined);
    const { body: otherLink } = await world.client.post("/v1/sign-in-links", undefined);
    const headers = { "sec-fetch-site": "same-origin" };
    const use = async ({ url }: { url: string }) =>
      (await world.client.raw("POST", new URL(url).pathname, headers)).status;
    expect(await statusOf(client)).toBe(200);
    const travelBack = await rememberDatabase();
    expect(await use(link)).toBe(303);
    expect((await client.delete("/v1/sessions/current")).status).toBe(204);
    await travelBack();
    expect(await statusOf(client)).toBe(401);
    await admit({ ids: [key.keyId] });
    expect(await statusOf(key.client)).toBe(200);
    expect(await statusOf(client)).toBe(401);
    expect(await use(link)).toBe(404);
    expect(await statusOf((await signIn(key)).client)).toBe(200);
    expect(await statusOf(other.client)).toBe(200);
    expect(await use(otherLink)).toBe(303);
  });

  it("a key was revoked gives the response of an unknown key", async () => {
    const { client, keyId } = await newKey(world);
    const travelBack = await rememberDatabase();
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    const revoked = await client.via(new Instrumented().fetch).get("/v1/orgs");
    await travelBack();
    const restored = await client.via(new Instrumented().fetch).get("/v1/orgs");
    expect(restored.text).toBe(revoked.text);
    expect([...restored.headers.keys()]).toEqual([...revoked.headers.keys()]);
  });

  it("a key was revoked does not revive it when its member's role changes afterwards", async () => {
    const { client, keyId, membershipId } = await join(world, "admin");
    const other = await newKey(world, { membershipId, role: "admin" });
    const travelBack = await rememberDatabase();
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${keyId}`);
    await travelBack();
    const member = `/v1/orgs/${world.id}/members/${membershipId}`;
    for (const role of ["member", "admin", "member"]) await world.client.put(member, { role });
    expect(await statusOf(client)).toBe(401);
    expect(await statusOf(other.client)).toBe(200);
  });

  it("an admin was demoted does not make them an admin again", async () => {
    const admin = await join(world, "admin");
    const other = await join(world, "admin");
    const members = `/v1/orgs/${world.id}/members`;
    const travelBack = await rememberDatabase();
    await world.client.put(`${members}/${admin.membershipId}`, { role: "member" });
    expect(await statusOf(admin.client, members)).toBe(403);
    await travelBack();
    expect(await statusOf(admin.client, members)).toBe(401);
    expect(await statusOf(other.client, members)).toBe(200);
    await world.client.put(`${members}/${admin.membershipId}`, { role: "member" });
    await admit({ ids: [admin.keyId] });
    expect(await statusOf(admin.client, members)).toBe(403);
    expect(await statusOf(admin.client)).toBe(200);
  });

  it("a member was removed does not let them in again", async () => {
    const member = await join(world);
    const travelBack = await rememberDatabase();
    await world.client.delete(`/v1/orgs/${world.id}/members/${member.membershipId}`);
    await travelBack();
    expect(await statusOf(member.client)).toBe(401);
    expect(await statusOf(world.client)).toBe(200);
  });

  it.each([
    ["removed from a project", "DELETE", undefined, "viewer"],
    ["given a lower role in a project", "PUT", { role: "viewer" }, "contributor"],
  ] as const)(
    "a member was %s does not give them the project again",
    async (_, method, body, role) => {
      const project = await newProject(world.client);
      const member = await join(world);
      const other = await join(world);
      const members = `/v1/projects/${project.id}/members`;
      const member_ids = [member.membershipId, other.membershipId];
      await world.client.post(members, { member_ids, role });
      const travelBack = await rememberDatabase();
      await world.client.request(method, `${members}/${member.membershipId}`, body);
      expect(await statusOf(member.client)).toBe(200);
      await travelBack();
      expect(await statusOf(member.client)).toBe(401);
      expect(await statusOf(other.client, `/v1/projects/${project.id}`)).toBe(200);
    },
  );

  it("a runner token was revoked, or its pool deleted, does not revive it", async () => {
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    const revoked = await newToken(world, pool);
    const deleted = await newPool(world, [environmentId]);
    const travelBack = await rememberDatabase();
    const pools = `/v1/orgs/${world.id}/runner-pools`;
    await world.client.delete(`${pools}/${pool.id}/tokens/${revoked.tokenId}`);
    await world.client.delete(`${pools}/${deleted.id}`);
    await travelBack();
    const attempts = "/v1/runner/attempts";
    expect(await statusOf(revoked.runner, attempts)).toBe(401);
    expect(await statusOf(deleted.runner, attempts)).toBe(401);
    expect(await statusOf(pool.runner, attempts)).toBe(200);
    await admit({ organizationId: world.id });
    expect(await statusOf(revoked.runner, attempts)).toBe(200);
    expect(await statusOf(deleted.runner, attempts)).toBe(200);
    expect(await auditedActions(revoked.tokenId)).toEqual(["credential.admitted"]);
  });
});

describe("a higher role in a project", () => {
  it("leaves the member's keys as they are, and a restore to a time before it refuses none", async () => {
    const project = await newProject(world.client);
    const member = await join(world);
    const members = `/v1/projects/${project.id}/members`;
    await world.client.post(members, { member_ids: [member.membershipId], role: "viewer" });
    const travelBack = await rememberDatabase();
    await world.client.put(`${members}/${member.membershipId}`, { role: "owner" });
    await travelBack();
    expect(await statusOf(member.client, `/v1/projects/${project.id}`)).toBe(200);
  });
});

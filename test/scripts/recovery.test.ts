import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createOwnerKey } from "../../packages/server/src/owner-key.ts";
import { admitCredentials, listCredentials, revokeAll } from "../../scripts/lib/recovery.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { Client } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  join,
  newInvitation,
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type World,
} from "../support/world.ts";

async function auditOf(world: World) {
  const { results } = await env.DB.prepare(
    `select action, target_type, target_id, project_id, credential_id, membership_id from audit_log
      where organization_id = ? and actor_type = 'operator' order by id`,
  )
    .bind(world.id)
    .all();
  return results;
}

/** An operator has no membership and no key. */
function operatorRecord(action: string, id: string, type = "api_key") {
  const columns = { project_id: null, credential_id: null, membership_id: null };
  return { action, target_type: type, target_id: id, ...columns };
}

/** What gives keys. */
async function newSources(world: World) {
  const trustId = await newTrust(world, { membershipId: await newServiceAccount(world) });
  const { id: invitationId, token } = await newInvitation(world);
  return { trustId, invitationId, token };
}

function versionsOf(table: string, world: World) {
  return env.DB.prepare(`select version from ${table} where organization_id = ?`)
    .bind(world.id)
    .all<{ version: number }>();
}

describe("the recovery of an owner's key", () => {
  it("creates one for the oldest owner, or a chosen one, on record, and for nobody else", async () => {
    const world = await newWorld();
    const second = await join(world, "owner");
    const admin = await join(world, "admin");
    const options = { organizationId: world.id, name: "recovery" };
    const first = await createOwnerKey(env.DB, systemClock, options);
    expect(first?.membershipId).toBe(world.membershipId);
    const { membershipId } = second;
    const chosen = await createOwnerKey(env.DB, systemClock, { ...options, membershipId });
    expect(chosen?.membershipId).toBe(membershipId);
    for (const created of [first, chosen]) {
      const client = new Client(created?.key);
      expect((await client.get(`/v1/orgs/${world.id}/members`)).status).toBe(200);
    }
    const ids = [first, chosen].map((created) => String(created?.key.split("_")[1]));
    expect(await auditOf(world)).toEqual(ids.map((id) => operatorRecord("owner_key.created", id)));
    for (const other of [admin.membershipId, (await newWorld()).membershipId]) {
      const refused = { ...options, membershipId: other };
      expect(await createOwnerKey(env.DB, systemClock, refused)).toBeUndefined();
    }
    expect(await auditOf(world)).toHaveLength(2);
    expect((await world.client.delete(`/v1/orgs/${world.id}`)).status).toBe(204);
    expect(await createOwnerKey(env.DB, systemClock, options)).toBeUndefined();
  });
});

describe("the admission of credentials", () => {
  it("raises exactly the versions of the chosen ones, above every earlier one, on record", async () => {
    const world = await newWorld();
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    const chosen = await newKey(world);
    const scope = { ids: [chosen.keyId, pool.tokenId] };
    const listed = await listCredentials(env.DB, scope);
    expect(listed).toMatchObject([
      { kind: "API key", id: chosen.keyId, role: "owner", name: "test" },
      { kind: "runner token", id: pool.tokenId, role: "", name: "test" },
    ]);
    expect(listed[0]?.lastFour).toBe(chosen.client.key?.slice(-4));
    const before = Date.now();
    await admitCredentials(env.DB, systemClock, listed);
    await admitCredentials(env.DB, systemClock, listed);
    const keys = (await versionsOf("api_keys", world)).results.map(({ version }) => version);
    expect(keys.filter((version) => version > before)).toHaveLength(1);
    expect(keys.filter((version) => version === 1)).toHaveLength(keys.length - 1);
    const [token] = (await versionsOf("runner_tokens", world)).results;
    expect(token?.version).toBeGreaterThan(before);
    const records = [
      operatorRecord("credential.admitted", chosen.keyId),
      operatorRecord("credential.admitted", pool.tokenId, "runner_token"),
    ];
    const recorded = await auditOf(world);
    expect(recorded).toHaveLength(4);
    expect(recorded).toEqual(expect.arrayContaining(records));
    expect((await chosen.client.get("/v1/orgs")).status).toBe(200);
    expect((await pool.runner.get("/v1/runner/attempts")).status).toBe(200);
  });

  it("lists those of one organization, or all", async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    const ids = async (scope: Parameters<typeof listCredentials>[1]) =>
      (await listCredentials(env.DB, scope)).map(({ id }) => id);
    expect(await ids({ organizationId: world.id })).toEqual([world.keyId]);
    expect(await ids({ everything: true })).toEqual(
      expect.arrayContaining([world.keyId, other.keyId]),
    );
    expect(await ids({ ids: [] })).toEqual([]);
  });
});

describe("the revocation of all credentials of an organization", () => {
  it("deletes its API keys and runner tokens, on record, and those of no other", async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    const { trustId, invitationId, token } = await newSources(world);
    const ofOther = await newSources(other);
    const ids = (await listCredentials(env.DB, { organizationId: world.id })).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(2);
    expect(await revokeAll(env.DB, systemClock, world.id)).toBe(ids.length);
    const isolate = new Instrumented();
    expect((await world.client.via(isolate.fetch).get("/v1/orgs")).status).toBe(401);
    expect((await pool.runner.via(isolate.fetch).get("/v1/runner/attempts")).status).toBe(401);
    expect((await other.client.get("/v1/orgs")).status).toBe(200);
    const records = [
      ...ids.map((id) =>
        operatorRecord("credential.revoked", id, id === pool.tokenId ? "runner_token" : "api_key"),
      ),
      operatorRecord("trust.deleted", trustId, "trust"),
      operatorRecord("invitation.revoked", invitationId, "invitation"),
    ];
    const recorded = await auditOf(world);
    expect(recorded).toHaveLength(records.length);
    expect(recorded).toEqual(expect.arrayContaining(records));
    expect(await auditOf(other)).toEqual([]);
    const nobody = new Client(undefined);
    const accept = (link: string) => nobody.post("/v1/invitations/accept", { token: link });
    expect((await accept(token)).status).toBe(404);
    expect((await accept(ofOther.token)).status).toBe(201);
    const { client } = other;
    expect((await client.get(`/v1/orgs/${other.id}/trusts/${ofOther.trustId}`)).status).toBe(200);
    const tombstones = await env.DB.prepare(
      "select id, revoked_by_key_id, revoked_by_membership_id from revoked_keys where organization_id = ?",
    )
      .bind(world.id)
      .all();
    const revoker = { revoked_by_key_id: null, revoked_by_membership_id: null };
    const keyIds = ids.filter((id) => id !== pool.tokenId);
    expect(tombstones.results).toHaveLength(keyIds.length);
    expect(tombstones.results).toEqual(
      expect.arrayContaining(keyIds.map((id) => ({ id, ...revoker }))),
    );
    const options = { organizationId: world.id, name: "recovery" };
    const created = await createOwnerKey(env.DB, systemClock, options);
    const recovered = new Client(created?.key);
    expect((await recovered.get("/v1/orgs")).status).toBe(200);
    for (const list of ["trusts", "invitations"]) {
      const { body } = await recovered.get(`/v1/orgs/${world.id}/${list}`);
      expect(body.data).toEqual([]);
    }
  });
});

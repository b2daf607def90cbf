import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { QUOTAS } from "../../../src/lib/resource-types.ts";
import { Client, type Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import {
  addKeys,
  addTokens,
  claims,
  clientOf,
  countIn,
  exists,
  expectRefused,
  largestUnits,
  MOST_UNITS,
  newJob,
  newPoolOfTrust,
  pathsOf,
  whoAmI,
} from "../../support/many-credentials.ts";
import { newKey, newPool, newProject, newWorld, signIn } from "../../support/world.ts";

const PART = LIMITS.revokedCredentials.value;

let worker: Instrumented;

beforeEach(() => {
  worker = new Instrumented();
});

const created = async (reply: Promise<{ status: number; body: Parsed }>) => {
  const { status, body } = await reply;
  expect(status).toBe(201);
  return body;
};

/** A database whose batch of this number fails, before it does anything. */
function failingAtBatch(number: number): D1Database {
  let count = 0;
  return {
    withSession: (constraint: string) => {
      const session = env.DB.withSession(constraint);
      return {
        prepare: (query: string) => session.prepare(query),
        getBookmark: () => session.getBookmark(),
        batch: (statements: D1PreparedStatement[]) => {
          const isRevocation = statements.length > 10;
          if (isRevocation) count += 1;
          if (isRevocation && count === number) throw new Error("The connection is lost");
          return session.batch(statements);
        },
      };
    },
  } as unknown as D1Database;
}

describe("the revocation of a key with its family", () => {
  it("takes at most 50 ms of D1 in each batch, and ends a family of any size", async () => {
    const world = await newWorld();
    const leaked = await newKey(world, { isOwn: true });
    const { keys, pools } = pathsOf(world);
    const child = await created(leaked.client.post(keys, { name: "child" }));
    const grandchild = await created(new Client(child.key).post(keys, { name: "grandchild" }));
    const { default_environment_id: environmentId } = await newProject(world.client);
    const other = await newPool(world, [environmentId]);
    const token = await created(leaked.client.post(`${pools}/${other.id}/tokens`, { name: "ci" }));
    const session = await signIn(leaked);
    const maker = String(leaked.keyId);
    await addKeys(world, world.membershipId, QUOTAS.api_keys - 10, { maker });
    await addTokens(world, other.id, QUOTAS.runner_tokens - 10, { maker });
    const before = await countIn("api_keys", world.id);
    const warm = new Instrumented();
    const people = [leaked, session, ...[child, grandchild].map(clientOf)];
    for (const { client } of people) expect(await whoAmI(client, warm)).toBe(200);
    const pool = { ...other, runner: new Client(token.token) };
    expect(await claims(pool, warm)).toBe(204);

    // Refused, and it is not counted as one walk for each statement.
    const { client } = world;
    expect((await client.via(worker.fetch).delete(`${keys}/${maker}`)).status).toBe(409);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    const revoke = client.via(worker.fetch).delete(`${keys}/${maker}?descendants=revoke`);
    expect((await revoke).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(10);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused(people, [pool], warm);
    expect([await whoAmI(client, warm), await claims(other, warm)]).toEqual([200, 204]);
    const gone = 3 + QUOTAS.api_keys - 10;
    expect(await countIn("api_keys", world.id)).toBe(before - gone);
    expect(await countIn("revoked_keys", world.id)).toBe(gone);
    expect(await countIn("runner_tokens", world.id)).toBe(1);
    const count = env.DB.prepare(
      "select count(*) as n from audit_log where organization_id = ?1 and action = ?2",
    );
    expect(await count.bind(world.id, "api_key.revoked").first("n")).toBe(gone);
    expect(await exists("revocation_parts", "1")).toBe(false);
  });

  it("goes on with the rest if it was interrupted, and is repeated", async () => {
    const world = await newWorld();
    const leaked = await newKey(world, { isOwn: true });
    const maker = String(leaked.keyId);
    await addKeys(world, world.membershipId, 2 * PART, { maker });
    const before = await countIn("api_keys", world.id);
    const path = `${pathsOf(world).keys}/${maker}?descendants=revoke`;
    // The first ends nothing, because the family is large.
    const interrupted = new Instrumented({ database: failingAtBatch(3) });
    expect((await world.client.via(interrupted.fetch).delete(path)).status).toBe(500);
    expect(await countIn("api_keys", world.id)).toBe(before - PART);
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await countIn("api_keys", world.id)).toBe(before - 2 * PART - 1);
    expect(await whoAmI(leaked.client, new Instrumented())).toBe(401);
  });
});

describe("the deletion of a trust", () => {
  it("goes on with what its keys have made if it was interrupted, and is repeated", async () => {
    const world = await newWorld();
    const { membershipId, trustId, job } = await newJob(world);
    await addKeys(world, membershipId, 0.6 * PART, { trustId });
    const { default_environment_id: environmentId } = await newProject(world.client);
    const pool = await newPool(world, [environmentId]);
    await addTokens(world, pool.id, 0.9 * PART, { maker: String(job.keyId) });
    const path = `/v1/orgs/${world.id}/trusts/${trustId}`;
    // The first two end nothing, because it is more than a part has.
    const interrupted = new Instrumented({ database: failingAtBatch(4) });
    expect((await world.client.via(interrupted.fetch).delete(path)).status).toBe(500);
    expect((await world.client.delete(path)).status).toBe(204);
    expect(await countIn("runner_tokens", world.id)).toBe(1);
  });

  it("takes at most 50 ms of D1 in each batch, and ends its keys with what they have made", async () => {
    const world = await newWorld();
    const { membershipId, trustId, job } = await newJob(world);
    const made = await created(job.client.post(pathsOf(world).keys, { name: "made" }));
    await addKeys(world, membershipId, LIMITS.liveKeysOfTrust.value - 1, { trustId });
    await addKeys(world, membershipId, QUOTAS.api_keys - 10, { maker: String(job.keyId) });
    const others = await countIn("api_keys", world.id);
    const people = [job, clientOf(made)];
    const warm = new Instrumented();
    for (const { client } of people) expect(await whoAmI(client, warm)).toBe(200);

    const path = `/v1/orgs/${world.id}/trusts/${trustId}`;
    expect((await world.client.via(worker.fetch).delete(path)).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(10);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused(people, [], warm);
    expect(await countIn("trusts", world.id)).toBe(0);
    const gone = LIMITS.liveKeysOfTrust.value + 1 + QUOTAS.api_keys - 10;
    expect(await countIn("api_keys", world.id)).toBe(others - gone);
    expect((await world.client.delete(path)).status).toBe(404);
  });

  it("takes at most 50 ms of D1 in each batch, and ends its runner tokens", async () => {
    const world = await newWorld();
    const pool = await newPoolOfTrust(world, LIMITS.liveKeysOfTrust.value);
    const warm = new Instrumented();
    expect(await claims(pool, warm)).toBe(204);

    const path = `/v1/orgs/${world.id}/trusts/${pool.trustId}`;
    expect((await world.client.via(worker.fetch).delete(path)).status).toBe(204);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused([], [pool], warm);
    expect(await countIn("runner_tokens", world.id)).toBe(1);
  });
});

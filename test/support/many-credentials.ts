import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { unitsOf } from "../../src/lib/database-units.ts";
import { Client, type Parsed } from "./client.ts";
import { Instrumented, UNUSABLE } from "./instruments.ts";
import { newIdsOf } from "./long-lists.ts";
import {
  newKey,
  newPool,
  newProject,
  newServiceAccount,
  newToken,
  newTrust,
  type Person,
  type Pool,
  type World,
} from "./world.ts";

/** Of a batch of D1: 50 ms. */
export const MOST_UNITS = 50_000;
const HOUR_MS = 3_600_000;

/** Of the batches since the last call. */
export function largestUnits(worker: Instrumented): number {
  const units = worker.database.map(({ rowsRead = 0, rowsWritten = 0 }) =>
    unitsOf({ rows_read: rowsRead, rows_written: rowsWritten }),
  );
  worker.forget();
  return Math.max(...units);
}

interface Lineage {
  trustId?: string;
  /** The ID of the key that has made them. */
  maker?: string;
}

export async function addKeys(
  world: World,
  membershipId: string,
  count: number,
  { trustId, maker = world.keyId }: Lineage = {},
): Promise<void> {
  await env.DB.prepare(
    `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four, created_at,
         expires_at, trust_id, created_by_key_id, issued_by_key_id, created_by_membership_id)
       select value, ?1, ?2, 'ci', 'member', '${UNUSABLE}' || value, 'abcd', 1, ?3, ?4, ?6, ?6, ?7 from json_each(?5)`,
  )
    .bind(
      world.id,
      membershipId,
      Date.now() + HOUR_MS,
      trustId ?? null,
      JSON.stringify(newIdsOf(count)),
      maker ?? null,
      world.membershipId,
    )
    .run();
}

/**
 * Keys that have ended, which `maker` has made; in a chain, each was made by the one before. Or each was made by one of the
 * `makers`. Returns their IDs.
 */
export async function addEndedKeys(
  world: World,
  count: number,
  lineage: { maker: string; isChain?: boolean } | { makers: readonly string[] },
): Promise<readonly string[]> {
  const ids = newIdsOf(count);
  const makerOf = (at: number) => {
    if ("makers" in lineage) return lineage.makers[at];
    return (lineage.isChain ? ids[at - 1] : undefined) ?? lineage.maker;
  };
  await env.DB.prepare(
    `insert into revoked_keys (id, organization_id, membership_id, name, role, last_four, created_at, revoked_at,
         created_by_key_id, issued_by_key_id, created_by_membership_id)
       select value ->> 0, ?1, ?2, 'ended', 'member', 'abcd', 1, 2, value ->> 1, value ->> 1, ?2 from json_each(?3)`,
  )
    .bind(world.id, world.membershipId, JSON.stringify(ids.map((id, at) => [id, makerOf(at)])))
    .run();
  return ids;
}

export async function addTokens(
  world: World,
  poolId: string,
  count: number,
  { trustId, maker = world.keyId }: Lineage = {},
): Promise<void> {
  await env.DB.prepare(
    `insert into runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, version, created_at,
         expires_at, trust_id, created_by_key_id, issued_by_key_id)
       select value, ?1, ?2, 'ci', '${UNUSABLE}' || value, 'abcd', 1, 1, ?3, ?4, ?6, ?6 from json_each(?5)`,
  )
    .bind(
      world.id,
      poolId,
      Date.now() + HOUR_MS,
      trustId ?? null,
      JSON.stringify(newIdsOf(count)),
      maker ?? null,
    )
    .run();
}

export async function countIn(table: string, organizationId: string): Promise<number> {
  const counted = env.DB.prepare(`select count(*) as n from ${table} where organization_id = ?`);
  return (await counted.bind(organizationId).first<number>("n")) ?? 0;
}

/** A pool with a valid token and as many others of a trust. */
export async function newPoolOfTrust(world: World, count: number) {
  const { default_environment_id: environmentId } = await newProject(world.client);
  const pool = await newPool(world, [environmentId]);
  const trustId = await newTrust(world, { poolId: pool.id });
  const job = await newToken(world, pool);
  await env.DB.prepare("update runner_tokens set trust_id = ?2 where id = ?1")
    .bind(job.tokenId, trustId)
    .run();
  await addTokens(world, pool.id, count - 1, { trustId });
  return { ...job, trustId, environmentId };
}

/** A trust with a key, of a CI job that may make others. */
export async function newJob(world: World) {
  const membershipId = await newServiceAccount(world, "admin");
  const trustId = await newTrust(world, { membershipId });
  const job = await newKey(world, { membershipId, role: "admin" });
  await env.DB.prepare("update api_keys set trust_id = ?2 where id = ?1")
    .bind(job.keyId, trustId)
    .run();
  return { membershipId, trustId, job };
}

export const pathsOf = ({ id }: World) => ({
  keys: `/v1/orgs/${id}/api-keys`,
  pools: `/v1/orgs/${id}/runner-pools`,
});

export const clientOf = ({ key }: Parsed) => ({ client: new Client(key) });

export const exists = async (table: string, id: string) =>
  (await env.DB.prepare(`select 1 as one from ${table} where id = ?`).bind(id).first()) !== null;

export const whoAmI = async (client: Client, isolate: Instrumented) =>
  (await client.via(isolate.fetch).get("/v1/whoami")).status;

export const claims = async ({ runner }: Pool, isolate: Instrumented) => {
  const request = { request_id: crypto.randomUUID() };
  return (await runner.via(isolate.fetch).post("/v1/runner/claims", request)).status;
};

/** Each is refused in an isolate that has cached it, and in a new one. */
export async function expectRefused(
  people: readonly Pick<Person, "client">[],
  pools: readonly Pool[],
  warm: Instrumented,
) {
  for (const isolate of [warm, new Instrumented()]) {
    for (const { client } of people) expect(await whoAmI(client, isolate)).toBe(401);
    for (const pool of pools) expect(await claims(pool, isolate)).toBe(401);
  }
}

import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { type Database, openForWriting } from "../../../src/db/client.ts";
import { selectTurns } from "../../../src/features/notifications/delivery/turns.ts";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { QUOTAS } from "../../../src/lib/resource-types.ts";
import type { Client } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import {
  join,
  newDelivery,
  newIntegration,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  type Person,
  type Pool,
  signIn,
  type World,
} from "../../support/world.ts";

/** Of a batch of D1: 50 ms. */
const MOST_UNITS = 50_000;
const HOUR_MS = 3_600_000;

let worker: Instrumented;

beforeEach(() => {
  worker = new Instrumented();
});

function largestUnits(): number {
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

async function addKeys(
  world: World,
  membershipId: string,
  count: number,
  { trustId, maker = world.keyId }: Lineage = {},
): Promise<void> {
  await env.DB.prepare(
    `insert into api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four, created_at,
         expires_at, narrowed_expires_at, trust_id, created_by_key_id, issued_by_key_id, created_by_membership_id)
       select value, ?1, ?2, 'ci', 'member', 'hash ' || value, 'abcd', 1, 0, ?3, ?4, ?6, ?6, ?7 from json_each(?5)`,
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

async function addTokens(
  world: World,
  poolId: string,
  count: number,
  { trustId, maker = world.keyId }: Lineage = {},
): Promise<void> {
  await env.DB.prepare(
    `insert into runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, version, created_at,
         expires_at, trust_id, created_by_key_id, issued_by_key_id)
       select value, ?1, ?2, 'ci', 'hash ' || value, 'abcd', 1, 1, ?3, ?4, ?6, ?6 from json_each(?5)`,
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

async function countIn(table: string, organizationId: string): Promise<number> {
  const counted = env.DB.prepare(`select count(*) as n from ${table} where organization_id = ?`);
  return (await counted.bind(organizationId).first<number>("n")) ?? 0;
}

/** The organizations of the deliveries that a consumer would claim now. */
async function listTurns(db: Database): Promise<string[]> {
  const turn = { maximum: 100, woken: [], startsWith: undefined, busy: [], proven: [] };
  const rows = await db.all<{ organization_id: string }>(
    sql`select deliveries.organization_id from (${selectTurns({ ...turn, now: Date.now() })}) as turn
      join deliveries on deliveries.id = turn.id`,
  );
  return rows.map((row) => row.organization_id);
}

const exists = async (table: string, id: string) =>
  (await env.DB.prepare(`select 1 as one from ${table} where id = ?`).bind(id).first()) !== null;

const whoAmI = async (client: Client, isolate: Instrumented) =>
  (await client.via(isolate.fetch).get("/v1/whoami")).status;

const claims = async ({ runner }: Pool, isolate: Instrumented) => {
  const request = { request_id: crypto.randomUUID() };
  return (await runner.via(isolate.fetch).post("/v1/runner/claims", request)).status;
};

/** Each is refused in an isolate that has cached it, and in a new one. */
async function expectRefused(
  people: readonly Person[],
  pools: readonly Pool[],
  warm: Instrumented,
) {
  for (const isolate of [warm, new Instrumented()]) {
    for (const { client } of people) expect(await whoAmI(client, isolate)).toBe(401);
    for (const pool of pools) expect(await claims(pool, isolate)).toBe(401);
  }
}

describe("the deletion of an organization", () => {
  it("takes at most 50 ms of D1, and what it leaves to the purge gives no access", async () => {
    const world = await newWorld();
    const membershipId = await newServiceAccount(world);
    const trustId = await newTrust(world, { membershipId });
    const project = await newProject(world.client);
    const first = await newPool(world, [project.default_environment_id]);
    await addKeys(world, membershipId, QUOTAS.api_keys - 10);
    await addKeys(world, membershipId, LIMITS.liveKeysOfTrust.value, { trustId });
    await addTokens(world, first.id, QUOTAS.runner_tokens - 10);
    await env.DB.prepare(
      `insert into sessions (id, organization_id, membership_id, source, key_id, secret_hash, created_at, expires_at)
         select value, ?2, ?3, 'link', ?4, 'hash ' || value, 1, ?5 from json_each(?1)`,
    )
      .bind(JSON.stringify(newIdsOf(2_000)), world.id, world.membershipId, world.keyId, Date.now())
      .run();
    const integration = await newIntegration(world.client, project.id);
    await newDelivery(integration.id, { status: "pending" });
    const integrations = newIdsOf(2 * LIMITS.deletedRows.value);
    await copyRow(world.id, "integrations", integration.id, integrations, {});
    for (const id of integrations.slice(-2)) await newDelivery(id, { status: "pending" });
    const { db } = openForWriting(env.DB);
    const due = async () => (await listTurns(db)).filter((id) => id === world.id).length;
    expect(await due()).toBe(3);
    const member = await join(world);
    const last = await newPool(world, [project.default_environment_id]);
    const session = await signIn(member);
    const warm = new Instrumented();
    for (const { client } of [member, session]) expect(await whoAmI(client, warm)).toBe(200);
    expect(await claims(last, warm)).toBe(204);

    expect((await world.client.via(worker.fetch).delete(`/v1/orgs/${world.id}`)).status).toBe(204);
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    expect(await exists("api_keys", member.keyId ?? "")).toBe(true);
    expect(await exists("sessions", session.sessionId ?? "")).toBe(true);
    expect(await exists("runner_tokens", last.tokenId)).toBe(true);
    expect(await due()).toBe(0);
    const secrets = env.DB.prepare(
      "select count(secret) as n from integrations where project_id = ?",
    );
    expect(await secrets.bind(project.id).first("n")).toBeGreaterThan(0);
    await expectRefused([world, member, session], [first, last], warm);

    const tables = ["api_keys", "sessions", "runner_tokens", "trusts"];
    for (let runs = 0; runs < 6; runs += 1) {
      await worker.sweep();
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    }
    expect(await secrets.bind(project.id).first("n")).toBe(0);
    const left = await Promise.all(tables.map((table) => countIn(table, world.id)));
    expect(left).toEqual([0, 0, 0, 0]);
    expect(await countIn("memberships", world.id)).toBeGreaterThan(0);
  });
});

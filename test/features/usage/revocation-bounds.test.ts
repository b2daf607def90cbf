import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { type Database, openForWriting } from "../../../src/db/client.ts";
import { selectTurns } from "../../../src/features/notifications/delivery/turns.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { QUOTAS } from "../../../src/lib/resource-types.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newDelivery, newIntegration } from "../../support/integrations.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
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
  newPoolOfTrust,
  pathsOf,
  whoAmI,
} from "../../support/many-credentials.ts";
import { Attempt } from "../../support/runner.ts";
import {
  accept,
  join,
  newDeployment,
  newPool,
  newProject,
  newServiceAccount,
  newTrust,
  newWorld,
  signIn,
} from "../../support/world.ts";

let worker: Instrumented;

beforeEach(() => {
  worker = new Instrumented();
});

/** The organizations of the deliveries that a consumer would claim now. */
async function listTurns(db: Database): Promise<string[]> {
  const turn = { maximum: 100, woken: [], startsWith: undefined, busy: [], proven: [] };
  const rows = await db.all<{ organization_id: string }>(
    sql`select deliveries.organization_id from (${selectTurns({ ...turn, now: Date.now() })}) as turn
      join deliveries on deliveries.id = turn.id`,
  );
  return rows.map((row) => row.organization_id);
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
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
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
      expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    }
    expect(await secrets.bind(project.id).first("n")).toBe(0);
    const left = await Promise.all(tables.map((table) => countIn(table, world.id)));
    expect(left).toEqual([0, 0, 0, 0]);
    expect(await countIn("memberships", world.id)).toBeGreaterThan(0);
  });
});

describe("the removal of a member", () => {
  it("takes at most 50 ms of D1 in each batch, and ends all of its keys and sessions", async () => {
    const world = await newWorld();
    const member = await join(world, "owner");
    const session = await signIn(member);
    const count = QUOTAS.api_keys - 10;
    await addKeys(world, String(member.membershipId), count);
    const before = await countIn("api_keys", world.id);
    const warm = new Instrumented();
    for (const { client } of [member, session]) expect(await whoAmI(client, warm)).toBe(200);

    const path = `/v1/orgs/${world.id}/members/${member.membershipId}`;
    expect((await world.client.via(worker.fetch).delete(path)).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(10);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused([member, session], [], warm);
    expect(await countIn("api_keys", world.id)).toBe(before - count - 1);
    expect(await countIn("revoked_keys", world.id)).toBe(count + 1);
    expect(await exists("memberships", String(member.membershipId))).toBe(false);
  });
});

describe("the deletion of an account", () => {
  it("takes at most 50 ms of D1 in each batch, and ends all keys in all organizations", async () => {
    const world = await newWorld();
    const person = await accept(world, { role: "owner", name: "Grace" });
    const { body } = await person.client.post("/v1/orgs", { name: "Second" });
    const second = { ...person, ...clientOf(body.api_key), id: body.id };
    await accept(second, { role: "owner" });
    const count = QUOTAS.api_keys - 10;
    await addKeys(world, person.membershipId, count);
    await addKeys(second, body.api_key.membership_id, count / 2);
    const project = await newProject(world.client);
    const projects = await copyRow(world.id, "projects", project.id, newIdsOf(QUOTAS.projects), {});
    const join = env.DB.prepare(
      "insert into project_members select value, ?2, ?3, ?4, 1, 1, 1 from json_each(?1)",
    );
    const joinAs = (role: string, membershipId: string) =>
      join.bind(JSON.stringify(projects), membershipId, world.id, role).run();
    await joinAs("owner", world.membershipId);
    await joinAs("viewer", person.membershipId);
    const warm = new Instrumented();
    const people = [person, second, await signIn(person)];
    for (const { client } of people) expect(await whoAmI(client, warm)).toBe(200);

    expect((await person.client.via(worker.fetch).delete("/v1/account")).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(15);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused(people, [], warm);
    expect(await countIn("memberships", world.id)).toBe(1);
    expect(await countIn("revoked_keys", world.id)).toBe(count + 1);
    expect(await countIn("revoked_keys", second.id)).toBe(count / 2 + 1);
    expect(await whoAmI(world.client, warm)).toBe(200);
  });

  it("takes at most 50 ms of D1 in each batch, however much history names the person", async () => {
    const world = await newWorld();
    const person = await accept(world, { name: "Grace" });
    const project = await newProject(world.client);
    const path = `/v1/projects/${project.id}/members`;
    const member = { member_ids: [person.membershipId], role: "viewer" };
    const repeatable = { "idempotency-key": "add-grace" };
    const added = await world.client.request("POST", path, member, repeatable);
    expect(added.status).toBe(201);
    const named = env.DB.prepare(
      "select id from changelog_entries where project_id = ? and record_type = 'project_member' and record_name = 'Grace'",
    );
    const entryId = await named.bind(project.id).first<string>("id");
    const event = env.DB.prepare("select id from events where data like ?");
    const eventId = await event.bind(`%"${entryId}"%`).first<string>("id");
    const audit = env.DB.prepare(
      "select id from audit_log where target_name = 'Grace' and target_type = 'project_member'",
    );
    const auditId = await audit.first<string>("id");
    const rows = 6_000;
    await copyRow(world.id, "changelog_entries", entryId ?? "", newIdsOf(rows), {});
    await copyRow(world.id, "events", eventId ?? "", newIdsOf(rows), {});
    await copyRow(world.id, "audit_log", auditId ?? "", newIdsOf(rows), {});
    const others = { data: `'{"entries":[]}'` };
    await copyRow(world.id, "events", eventId ?? "", newIdsOf(20_000), others);
    await copyRow(world.id, "idempotency_records", undefined, newIdsOf(rows), {
      key: "item.value",
    });
    const naming = async (table: string, column: string) =>
      await env.DB.prepare(
        `select count(*) as n from ${table} where ${column} like '%Grace%'`,
      ).first<number>("n");
    const columns = [
      ["changelog_entries", "record_name"],
      ["events", "data"],
      ["audit_log", "target_name"],
      ["idempotency_records", "result"],
    ] as const;
    for (const [table, column] of columns) {
      expect(await naming(table, column)).toBeGreaterThan(rows);
    }

    expect((await person.client.via(worker.fetch).delete("/v1/account")).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(15);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    for (const [table, column] of columns) expect(await naming(table, column)).toBe(0);
  });
});

describe("the deletion of a runner pool", () => {
  it("takes at most 50 ms of D1 in each batch, and ends all of its runner tokens, however many attempts it has had", async () => {
    const world = await newWorld();
    const pool = await newPoolOfTrust(world, LIMITS.liveKeysOfTrust.value);
    await addTokens(world, pool.id, LIMITS.runnerTokensOfPool.value - 1);
    await newDeployment(world.client, pool.environmentId);
    await (await Attempt.started(pool.runner)).complete("failed");
    const attempts = newIdsOf(3 * LIMITS.deletedOfPool.value);
    await copyRow(world.id, "attempts", undefined, attempts, { request_id: "item.value" });
    const warm = new Instrumented();
    expect(await claims(pool, warm)).toBe(204);

    const { pools } = pathsOf(world);
    expect((await world.client.via(worker.fetch).delete(`${pools}/${pool.id}`)).status).toBe(204);
    expect(worker.database.length).toBeGreaterThan(3);
    expect(largestUnits(worker)).toBeLessThanOrEqual(MOST_UNITS);
    await expectRefused([], [pool], warm);
    const left = ["runner_tokens", "attempts"].map((table) => countIn(table, world.id));
    expect(await Promise.all(left)).toEqual([0, 0]);
    expect(await exists("runner_pools", pool.id)).toBe(false);
  });
});

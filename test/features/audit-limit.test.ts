import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/lib/limits.ts";
import { AUDITED_ACTIONS } from "../../src/lib/resource-types.ts";
import { listAuditLog } from "../support/audit.ts";
import type { Client, Reply } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { Attempt } from "../support/runner.ts";
import {
  join,
  newDeployableProject,
  newDeployment,
  newKey,
  newWorld,
  type World,
} from "../support/world.ts";

const DAY_MS = 86_400_000;
const MAXIMUM = LIMITS.auditEntriesOfDay.value;
/** Of a full day: the others are only counted. */
const INSERTED = Math.min(env.EFFORT.auditEntries, MAXIMUM);
/** What ends something: a leaked credential is revoked although its use has filled the log. */
const ENDS = /\.(deleted|revoked|removed|declined|disconnected)$/;

let world: World;
let now: number;
let client: Client;
let worker: Instrumented;

beforeEach(async () => {
  world = await newWorld();
  now = Date.now();
  worker = new Instrumented({ clock: { now: () => now } });
  client = world.client.via(worker.fetch);
});

/** Inserts entries of today, as an act has them. */
async function insertEntries(count: number, action = "api_key.created", type = "api_key") {
  await env.DB.prepare(
    `with recursive item(at) as (select 1 union all select at + 1 from item where at < ?2)
      insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
        target_id)
      select printf('%d', at) || hex(randomblob(8)), ?1, ?3, ?4, 'success', ?5, 'api_key', 'k' from item`,
  )
    .bind(world.id, count, now, action, type)
    .run();
}

/** As if there were more entries today than there are. */
const countMore = (count: number) =>
  env.DB.prepare("update audit_days set entries = entries + ? where organization_id = ?")
    .bind(count, world.id)
    .run();

const countEntries = async () =>
  Number(
    await env.DB.prepare("select count(*) as n from audit_log where organization_id = ?")
      .bind(world.id)
      .first("n"),
  );

const createKey = (by = client, { id } = world): Promise<Reply> =>
  by.post(`/v1/orgs/${id}/api-keys`, { name: "ci" });

function expectRefused({ status, body, headers }: Reply) {
  expect([status, body.code]).toEqual([429, "rate"]);
  const seconds = String(Math.ceil((DAY_MS - (now % DAY_MS)) / 1000));
  const named = ["retry-after", "ratelimit-policy", "ratelimit"].map((name) => headers.get(name));
  expect(named).toEqual([
    seconds,
    `"organization";q=${MAXIMUM};w=86400`,
    `"organization";r=0;t=${seconds}`,
  ]);
  const own = ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));
  expect(own).toEqual([String(MAXIMUM), "0", seconds]);
}

describe("the audit log of an organization", () => {
  it("has at most 100,000 entries a day: then acts are refused until the next, but not those that end something", async () => {
    const member = await join(world);
    const spare = await newKey(world);
    const { environmentId, pool } = await newDeployableProject(world);
    const running = await newDeployment(world.client, environmentId);
    const path = `/v1/environments/${environmentId}/variables`;
    const variable = { name: "A", storage_method: "secret", value: "v" };
    const { body: created } = await world.client.post(path, variable);
    const attempt = await Attempt.started(pool.runner);
    await insertEntries(INSERTED - 1 - (await countEntries()));
    if (INSERTED < MAXIMUM) await countMore(MAXIMUM - INSERTED);

    const last = await createKey();
    expect([last.status, last.headers.get("x-ratelimit-limit")]).toEqual([201, "100"]);
    expect(await countEntries()).toBe(INSERTED);
    const refused = [
      await createKey(),
      await client.get(`/v1/variables/${created.id}/value`),
      await client.put(path, { mode: "merge", variables: [{ ...variable, value: "w" }] }),
      await pool.runner
        .via(worker.fetch)
        .request("GET", `/v1/runner/attempts/${attempt.claimed.attempt_id}/variables`, undefined, {
          "lease-token": attempt.claimed.lease_token,
        }),
    ];
    for (const reply of refused) expectRefused(reply);
    expect(await countEntries()).toBe(INSERTED);
    expect((await world.client.get(`/v1/variables/${created.id}`)).body).toEqual(created);

    expect((await attempt.post("heartbeat")).status).toBe(200);
    const ends = [
      await client.patch(`/v1/deployments/${running.id}/cancel`),
      await client.delete(`/v1/orgs/${world.id}/api-keys/${spare.keyId}`),
      await client.delete(`/v1/orgs/${world.id}/members/${member.membershipId}`),
      await client.delete(`/v1/variables/${created.id}`),
    ];
    expect(ends.map(({ status }) => status)).toEqual([200, 204, 204, 204]);
    expect(await countEntries()).toBeGreaterThan(INSERTED);
    // What has no entry is not limited by it.
    expect(
      (await client.post(`/v1/environments/${environmentId}/stacks`, { name: "s" })).status,
    ).toBe(201);

    const other = await newWorld();
    expect((await createKey(other.client.via(worker.fetch), other)).status).toBe(201);
    now += DAY_MS - (now % DAY_MS) - 1;
    expectRefused(await createKey());
    now += 1;
    expect((await createKey()).status).toBe(201);
    const day = await env.DB.prepare(
      "select day, entries from audit_days where organization_id = ?",
    )
      .bind(world.id)
      .first();
    expect(day).toEqual({ day: now / DAY_MS, entries: 1 });
  }, 60_000);

  it("counts each entry once, an earlier day never, and nothing that was rolled back", async () => {
    const count = async () =>
      env.DB.prepare("select entries from audit_days where organization_id = ?")
        .bind(world.id)
        .first<number>("entries");
    now += DAY_MS;
    await insertEntries(3);
    expect(await count()).toBe(3);
    now -= DAY_MS;
    await insertEntries(2);
    expect(await count()).toBe(3);
    now += DAY_MS;
    expect((await createKey()).status).toBe(201);
    expect(await count()).toBe(4);
    expect((await client.delete(`/v1/orgs/${world.id}/members/${world.membershipId}`)).status).toBe(
      409,
    );
    expect(await count()).toBe(4);
  });

  it.each(AUDITED_ACTIONS)("decides about %s beyond the limit by what it does", async (action) => {
    await insertEntries(1);
    await env.DB.prepare("update audit_days set entries = ? where organization_id = ?")
      .bind(MAXIMUM, world.id)
      .run();
    const before = await countEntries();
    const inserted = await insertEntries(1, action).then(
      () => true,
      () => false,
    );
    expect([inserted, await countEntries()]).toEqual(
      ENDS.test(action) ? [true, before + 1] : [false, before],
    );
    await insertEntries(1, action, "operator");
    expect(await countEntries()).toBe(before + (ENDS.test(action) ? 2 : 1));
  });

  it("has at most 128 MiB of entries a day, which count by the bytes of what they say", async () => {
    await createKey();
    const usedBytes = () =>
      env.DB.prepare("select bytes from audit_days where organization_id = ?")
        .bind(world.id)
        .first<number>("bytes");
    const before = Number(await usedBytes());
    const description = "é".repeat(500);
    expect((await client.post("/v1/projects", { name: "p", description })).status).toBe(201);
    const bytes = Number(await usedBytes()) - before;
    expect(bytes).toBeGreaterThan(2 * 500 + 400);
    expect(bytes).toBeLessThan(2 * 500 + 2_000);
    const use = (used: number) =>
      env.DB.prepare("update audit_days set bytes = ? where organization_id = ?")
        .bind(used, world.id)
        .run();
    const most = LIMITS.auditBytesOfDay.value;
    await use(most - 1);
    expectRefused(await createKey());
    expect(await usedBytes()).toBe(most - 1);
    const spare = await newKey(world);
    const revoked = await client.delete(`/v1/orgs/${world.id}/api-keys/${spare.keyId}`);
    expect(revoked.status).toBe(204);
    now += DAY_MS;
    expect((await createKey()).status).toBe(201);
    expect(await usedBytes()).toBeLessThan(2_000);
  });

  it("has its limits in the trigger", async () => {
    const sql = await env.DB.prepare(
      "select sql from sqlite_master where type = 'trigger' and name = 'audit_log_day'",
    ).first<string>("sql");
    expect(sql).toContain(`> ${MAXIMUM} OR`);
    expect(sql).toContain(`> ${LIMITS.auditBytesOfDay.value})`);
  });
});

describe("an audit entry", () => {
  /** Entries of one time have no order. */
  const later = () => {
    now += 1;
    return client;
  };
  const put = (path: string, variables: object[], headers = {}) =>
    later().request("PUT", path, { mode: "replace", variables }, headers);

  it("of 200 variables is one, with the first names and the count of all", async () => {
    const other = await newWorld();
    const elsewhere = await listAuditLog(other);
    const { environmentId } = await newDeployableProject(world);
    const path = `/v1/environments/${environmentId}/variables`;
    const names = Array.from({ length: 200 }, (_, at) => `V${at}_${"x".repeat(200)}`.slice(0, 200));
    const variables = names.map((name) => ({ name, storage_method: "string", value: "v" }));
    const agent = { "user-agent": "a".repeat(400) };
    const before = await countEntries();
    expect((await put(path, variables, agent)).status).toBe(200);
    expect(await countEntries()).toBe(before + 1);
    const [entry] = (await listAuditLog(world)).filter(
      ({ action }) => action === "variables.written",
    );
    const length = LIMITS.auditNamesLength.value;
    const shown = names.slice(0, Math.floor((length - 1) / 203));
    expect(entry).toMatchObject({
      target: { type: "environment", id: environmentId },
      user_agent: "a".repeat(LIMITS.userAgentLength.value),
      changes: { after: { created: { names: shown, count: 200 } } },
    });
    expect(LIMITS.userAgentLength.value).toBe(200);
    // The names beside it are read, and not stored.
    const { targets: _, source: __, ...stored } = entry;
    expect(JSON.stringify(stored).length).toBeLessThan(length + 1_000);

    // Repeated with other values, then as it is, then without some.
    const changed = variables.map((each) => ({ ...each, value: "w" }));
    for (const sent of [changed, changed]) expect((await put(path, sent, agent)).status).toBe(200);
    expect(await countEntries()).toBe(before + 2);
    expect((await put(path, changed.slice(2))).status).toBe(200);
    const written = (await listAuditLog(world, "&action=variables.written")).map(
      ({ changes }) => changes.after,
    );
    const updated = { names: shown, count: 200 };
    const deleted = { names: expect.any(Array), count: 2 };
    expect(written.slice(1)).toEqual([{ updated }, { deleted }]);
    expect(written[2].deleted.names.toSorted()).toEqual(names.slice(0, 2).toSorted());
    expect(await listAuditLog(other)).toEqual(elsewhere);
  });

  it("of one variable, or of one member, in a request for several names it itself", async () => {
    const { environmentId, project } = await newDeployableProject(world);
    const path = `/v1/environments/${environmentId}/variables`;
    const { body } = await put(path, [{ name: "A", storage_method: "string", value: "v" }]);
    const people = [await join(world), await join(world), await join(world)];
    const [first, ...rest] = people.map(({ membershipId }) => membershipId);
    const add = (member_ids: unknown[]) =>
      later().post(`/v1/projects/${project.id}/members`, { member_ids, role: "contributor" });
    expect([(await add([first])).status, (await add(rest)).status]).toEqual([201, 201]);
    const query = "&action=variable.created,project_member.added,project_members.added";
    const entries = (await listAuditLog(world, query)).map(({ action, target, changes }) => ({
      action,
      id: target.id,
      after: changes.after,
    }));
    const id = body.data[0].id;
    expect(entries).toEqual([
      { action: "variable.created", id, after: expect.objectContaining({ id }) },
      { action: "project_member.added", id: first, after: expect.objectContaining({ id: first }) },
      {
        action: "project_members.added",
        id: project.id,
        after: { role: "contributor", members: rest, count: 2 },
      },
    ]);
  });
});

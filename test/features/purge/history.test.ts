import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { OwnedTable } from "../../../src/db/ownership.ts";
import { rowBytes } from "../../../src/db/row-bytes.ts";
import { FEATURES } from "../../../src/features/index.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { Instrumented } from "../../support/instruments.ts";
import { append, logObject, newLoggedDeployment, start } from "../../support/log-harness.ts";
import { queryPlans } from "../../support/query-plans.ts";
import {
  newDeployableProject,
  newDeployment,
  newIntegration,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => Math.floor(Date.now() - days * DAY_MS);
const idAt = (time: number) => newId({ now: () => time });

/** Those whose rows the schedule counts; triggers count deployments. */
const HISTORY = FEATURES.flatMap(({ tables = [] }) => tables as readonly OwnedTable[]).flatMap(
  ({ table, history }) =>
    history
      ? [{ name: getTableName(table), bytes: rowBytes(table, "each", history.fixed), ...history }]
      : [],
);

const run = (sql: string, ...values: (string | number | null)[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

async function idsOf(table: string, organizationId: string, where = "true"): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `select id from ${table} where organization_id = ? and ${where} order by id`,
  )
    .bind(organizationId)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** What the schedule does once an hour. */
async function countHistory(): Promise<void> {
  await run("delete from history_usage where kind <> 'deployments'");
  for (const { name, kind, bytes } of HISTORY) {
    await run(
      `insert into history_usage select each.organization_id, ?1, count(*), sum(${bytes}) from ${name} as each
         where true group by 1
       on conflict do update set records = records + excluded.records, bytes = bytes + excluded.bytes`,
      kind,
    );
    await run(
      `insert into history_positions select ?1, coalesce(max(rowid), 0) from ${name} where true
         on conflict do update set position = excluded.position`,
      name,
    );
  }
}

async function historyOf({ id }: World): Promise<number> {
  const query =
    "select sum(bytes) as n from history_usage where organization_id = ? and kind <> 'audit_log'";
  return (await env.DB.prepare(query).bind(id).first<number>("n")) ?? 0;
}

/** Of every organization. */
const setShare = (bytes: number) =>
  void vi.spyOn(LIMITS.historyBytes, "value", "get").mockReturnValue(bytes);

async function sweep(): Promise<Instrumented> {
  const isolate = new Instrumented();
  await isolate.sweep();
  return isolate;
}

interface Owner {
  world: World;
  projectId: string;
  integrationId: string;
}

async function newOwner(): Promise<Owner> {
  const world = await newWorld();
  const project = await newProject(world.client);
  const integration = await newIntegration(world.client, project.id);
  return { world, projectId: project.id, integrationId: integration.id };
}

/** Of the same size. Returns the IDs, oldest first. */
async function addEntries({ world, projectId }: Owner, ages: readonly number[]): Promise<string[]> {
  const ids = ages.map((days) => idAt(daysAgo(days))).toSorted();
  await run(
    `insert into changelog_entries (id, organization_id, project_id, action, record_type, record_id,
       before, created_at) select value, ?2, ?3, 'updated', 'stack', ?3, json_object('x', printf('%1000s', '')), 1700000000000
     from json_each(?1)`,
    JSON.stringify(ids),
    world.id,
    projectId,
  );
  return ids;
}

/** An event with a delivery, which has an attempt. */
async function addDelivery(
  { world, projectId, integrationId }: Owner,
  days: number,
  status = "succeeded",
): Promise<{ event: string; delivery: string }> {
  const createdAt = daysAgo(days);
  const [event, delivery] = [idAt(createdAt), idAt(createdAt)];
  await run(
    "insert into events values (?1, ?2, ?3, null, 'deployments.failed', '{}', ?4, ?4)",
    ...[event, world.id, projectId, createdAt],
  );
  await run(
    `insert into deliveries select ?1, organization_id, project_id, id, ?2, 'deployments.failed', ?3, ?4, 1,
       4e12, ?3, ?3, null, null from integrations where id = ?5`,
    ...[delivery, event, createdAt, status, integrationId],
  );
  await run(
    "insert into delivery_attempts values (?1, 1, ?2, ?3, 1, 200, null, null)",
    ...[delivery, world.id, createdAt],
  );
  return { event, delivery };
}

beforeEach(async () => {
  vi.restoreAllMocks();
  await countHistory();
});

describe("the history of an organization", () => {
  it("beyond its share loses exactly its oldest until it fits; within it, and another's, nothing", async () => {
    const [full, other] = [await newOwner(), await newOwner()];
    const days = Array.from({ length: 40 }, (_, at) => 390 - 9 * at);
    const old = await addEntries(full, days);
    const kept = await addEntries(other, days.slice(0, 10));
    await countHistory();
    const [before, others] = [await historyOf(full.world), await historyOf(other.world)];
    setShare(before);
    await sweep();
    expect(await idsOf("changelog_entries", full.world.id)).toEqual(expect.arrayContaining(old));
    expect(await historyOf(full.world)).toBe(before);
    const share = Math.floor(before / 2);
    expect(others).toBeLessThan(share);
    setShare(share);
    await sweep();
    const after = await historyOf(full.world);
    const left = (await idsOf("changelog_entries", full.world.id)).filter((id) => old.includes(id));
    expect(left).toEqual(old.slice(-left.length));
    expect(after).toBeLessThanOrEqual(share);
    expect(after + (before - after) / (old.length - left.length)).toBeGreaterThan(share);
    expect(await idsOf("changelog_entries", other.world.id)).toEqual(expect.arrayContaining(kept));
    expect(await historyOf(other.world)).toBe(others);
    const { body } = await full.world.client.get(
      `/v1/projects/${full.projectId}/changelog?limit=100`,
    );
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(
      (await idsOf("changelog_entries", full.world.id)).toReversed(),
    );
  });

  it("loses no more than it must of the rows of one second", async () => {
    const owner = await newOwner();
    await countHistory();
    const others = await historyOf(owner.world);
    const ages = Array.from({ length: 10 }, (_, at) => 300 - at / 1_000_000);
    const old = await addEntries(owner, ages);
    await countHistory();
    const before = await historyOf(owner.world);
    const share = before - (3 * (before - others)) / old.length;
    setShare(share);
    await sweep();
    expect(await historyOf(owner.world)).toBe(share);
    expect(await idsOf("changelog_entries", owner.world.id)).toEqual(
      expect.arrayContaining(old.slice(3)),
    );
  });

  it("has the share that an operator has set, and others have their own", async () => {
    const [small, other] = [await newOwner(), await newOwner()];
    const old = await addEntries(small, [9, 8, 7, 6, 5]);
    const kept = await addEntries(other, [9, 8, 7, 6, 5]);
    await countHistory();
    await sweep();
    expect(await idsOf("changelog_entries", small.world.id)).toEqual(expect.arrayContaining(old));
    const share = (await historyOf(small.world)) - 1;
    await run("insert into quotas values (?1, 'history_bytes', ?2)", small.world.id, share);
    await sweep();
    const left = await idsOf("changelog_entries", small.world.id);
    expect(left).not.toContain(old[0]);
    expect(left).toEqual(expect.arrayContaining(old.slice(1)));
    expect(await historyOf(small.world)).toBeLessThanOrEqual(share);
    expect(await idsOf("changelog_entries", other.world.id)).toEqual(expect.arrayContaining(kept));
  });

  it("loses the oldest of all kinds first, and never a pending delivery or its event", async () => {
    const owner = await newOwner();
    const { world } = owner;
    const pending = await addDelivery(owner, 29, "pending");
    const finished: { event: string; delivery: string }[] = [];
    for (let days = 28; days > 2; days -= 1) finished.push(await addDelivery(owner, days));
    const entries = await addEntries(
      owner,
      Array.from({ length: 26 }, (_, at) => 28.5 - at),
    );
    await countHistory();
    setShare(Math.floor((await historyOf(world)) / 2));
    await sweep();
    expect(await historyOf(world)).toBeLessThanOrEqual(LIMITS.historyBytes.value);
    const [events, deliveries, changes] = await Promise.all(
      ["events", "deliveries", "changelog_entries"].map((table) => idsOf(table, world.id)),
    );
    expect(events).toContain(pending.event);
    expect(deliveries).toContain(pending.delivery);
    const isGone =
      (ids: readonly string[] = []) =>
      (id: string) =>
        !ids.includes(id);
    const gone = [
      ...finished.map(({ event }) => event).filter(isGone(events)),
      ...finished.map(({ delivery }) => delivery).filter(isGone(deliveries)),
      ...entries.filter(isGone(changes)),
    ].toSorted();
    const left = [
      ...finished.flatMap(({ event, delivery }) => [event, delivery]),
      ...entries,
    ].filter((id) => !gone.includes(id));
    expect(gone.length).toBeGreaterThan(20);
    expect(left.length).toBeGreaterThan(20);
    // Rows of different tables with the same time may be apart: a delivery goes before its event.
    expect(String(gone.at(-1)).slice(0, 8) <= String(left.toSorted()[0]).slice(0, 8)).toBe(true);
    const attempts = await env.DB.prepare(
      "select count(*) as n from delivery_attempts where organization_id = ?",
    )
      .bind(world.id)
      .first<number>("n");
    expect(attempts).toBe(deliveries?.length);
    setShare(1);
    await sweep();
    expect(await idsOf("events", world.id, `id <= '${finished.at(-1)?.event}'`)).toEqual([
      pending.event,
    ]);
    expect(await idsOf("deliveries", world.id)).toEqual([pending.delivery]);
    expect(await idsOf("changelog_entries", world.id)).toEqual([]);
    const path = `/v1/projects/${owner.projectId}/notification-integrations/${owner.integrationId}`;
    const { body } = await world.client.get(`${path}/deliveries`);
    expect(body.data).toMatchObject([{ status: "pending" }]);
    for (const list of ["events", "changelog"]) {
      expect((await world.client.get(`/v1/projects/${owner.projectId}/${list}`)).status).toBe(200);
    }
  });

  it("of several organizations goes in turn, whatever one has", async () => {
    vi.spyOn(LIMITS.purgeBatches, "value", "get").mockReturnValue(16);
    const [large, small] = [await newOwner(), await newOwner()];
    await addEntries(
      large,
      Array.from({ length: 20_000 }, (_, at) => 300 - at / 1_000_000),
    );
    const [oldest = ""] = await addEntries(small, [200, 100]);
    await countHistory();
    setShare((await historyOf(small.world)) - 1);
    await sweep();
    expect(await idsOf("changelog_entries", small.world.id)).not.toContain(oldest);
    expect((await idsOf("changelog_entries", large.world.id)).length).toBeGreaterThan(10_000);
    await run("delete from changelog_entries where organization_id = ?", large.world.id);
  });

  it("is counted by the schedule, and less what is deleted", async () => {
    const owner = await newOwner();
    const { id } = owner.world;
    await addDelivery(owner, 3);
    await addEntries(
      owner,
      Array.from({ length: LIMITS.sweepHistory.value + 100 }, (_, at) => 9 - at / 1_000_000),
    );
    await addDelivery(owner, 2, "pending");
    await sweep();
    const counted = async () => {
      const { results } = await env.DB.prepare(
        "select kind, records, bytes from history_usage where organization_id = ? order by kind",
      )
        .bind(id)
        .all();
      return results;
    };
    const bySchedule = await counted();
    await countHistory();
    expect(bySchedule).toEqual(await counted());
    expect(bySchedule.map(({ kind }) => kind)).toEqual([
      ...["audit_log", "changelog", "deliveries", "delivery_attempts", "events"],
    ]);
    await run("delete from changelog_entries where organization_id = ?", id);
    expect(await counted()).toContainEqual({ kind: "changelog", records: 0, bytes: 0 });
    await sweep();
    expect(await counted()).toContainEqual({ kind: "changelog", records: 0, bytes: 0 });
  });

  it("of founded organizations has half of a share together; only one with more than its part loses", async () => {
    const [founder, large, small, other] = await Promise.all([0, 1, 2, 3].map(newOwner));
    if (!founder || !large || !small || !other) throw new Error("It has four organizations");
    const days = (count: number) => Array.from({ length: count }, (_, at) => 300 - at);
    const lost = await addEntries(large, days(80));
    const kept = await addEntries(small, days(20));
    const others = await addEntries(other, days(80));
    await countHistory();
    const [ofLarge, ofSmall] = [await historyOf(large.world), await historyOf(small.world)];
    const share = 2 * (ofLarge + ofSmall) - 40_000;
    setShare(share);
    await sweep();
    expect(await idsOf("changelog_entries", large.world.id)).toEqual(expect.arrayContaining(lost));
    for (const { world } of [large, small]) {
      await run(
        "update organizations set limits_organization_id = ?1 where id = ?2",
        ...[founder.world.id, world.id],
      );
    }
    await sweep();
    const together = (await historyOf(large.world)) + (await historyOf(small.world));
    expect(together).toBeLessThanOrEqual(share / 2);
    expect(together).toBeGreaterThan(share / 2 - 2_000);
    const left = await idsOf("changelog_entries", large.world.id);
    expect(left.filter((id) => lost.includes(id))).toEqual(lost.slice(-left.length + 2));
    for (const [{ world }, all] of [[small, kept] as const, [other, others] as const]) {
      expect(await idsOf("changelog_entries", world.id)).toEqual(expect.arrayContaining(all));
    }
  });

  it("is never read in whole, nor sorted", async () => {
    const owner = await newOwner();
    await addDelivery(owner, 20);
    await addEntries(owner, [30, 10]);
    await countHistory();
    setShare(1);
    const statements = (await sweep()).database.flatMap((exchange) => exchange.statements);
    const rolling = statements.filter(({ sql }) =>
      /"id0"|"may_go"|first\(position\)|as excess/.test(sql),
    );
    expect(rolling.length).toBeGreaterThan(5);
    const different = [...new Map(rolling.map((each) => [each.sql, each])).values()];
    const plans = await queryPlans(different);
    const refused = plans.map((details, at) => {
      const isRandom = different[at]?.sql.includes("random()");
      return details
        .filter((detail) => /^SCAN (?!CONSTANT ROW|each|first|\()|TEMP B-TREE/.test(detail))
        .filter((detail) => !isRandom || !/TEMP B-TREE/.test(detail));
    });
    expect(refused.flat()).toEqual([]);
  });
});

describe("deployments beyond the newest of their environment", () => {
  /** Copies of a deployment, ended, oldest first; those with a configuration are among the newest. */
  async function copyDeployment(id: string, count: number, columns: string): Promise<void> {
    const { results } = await env.DB.prepare(
      "select name from pragma_table_info('deployments')",
    ).all<{
      name: string;
    }>();
    const names = results
      .map(({ name }) => name)
      .filter((name) => !["id", "number", "created_at", "configuration"].includes(name));
    await run(
      `insert into deployments (id, number, created_at, configuration, ${names})
         select item.value ->> 0, item.key + 2, item.value ->> 1, ${columns}, ${names}
         from json_each(?1) as item join deployments on deployments.id = ?2`,
      JSON.stringify(
        Array.from({ length: count }, (_, at) => {
          const time = daysAgo(1_000 - at);
          return [idAt(time), time];
        }),
      ),
      id,
    );
  }

  it("go with their stacks and attempts; the newest, and the last of each status, stay", async () => {
    const [world, other] = [await newWorld(), await newWorld()];
    const owners: [World, string[]][] = [];
    for (const each of [world, other]) {
      const { environmentId } = await newDeployableProject(each);
      await each.client.post(`/v1/environments/${environmentId}/stacks`, { name: "s" });
      const { id } = await newDeployment(each.client, environmentId, {});
      await run("update deployments set status = 'failed', announced = 'failed' where id = ?", id);
      await copyDeployment(id, 8, "iif(item.key < 5, '', deployments.configuration)");
      const all = (await idsOf("deployments", each.id)).filter((one) => one !== id);
      // The environment's last success, which is old.
      await run("update deployments set status = 'succeeded' where id = ?", all[1] ?? "");
      await run(
        `insert into deployment_stacks select item.value, stack_id, organization_id, environment_id, position,
           status, status_reason, seq, timestamp, deployment_created_at, started_at
         from json_each(?1) as item join deployment_stacks on deployment_id = ?2`,
        JSON.stringify(all),
        id,
      );
      owners.push([each, [...all, id]]);
    }
    const [[, deployments], [, others]] = owners as [[World, string[]], [World, string[]]];
    await countHistory();
    setShare(10_000_000);
    await sweep();
    expect(await idsOf("deployments", world.id)).toEqual(deployments.toSorted());
    vi.spyOn(LIMITS.historyBytes, "value", "get").mockReturnValue(1);
    await run("delete from history_usage where organization_id = ?", other.id);
    await sweep();
    const left = [deployments[1], ...deployments.slice(5)];
    expect(await idsOf("deployments", world.id)).toEqual(left.toSorted());
    expect(await idsOf("deployments", other.id)).toEqual(others.toSorted());
    const { results } = await env.DB.prepare(
      "select deployment_id as id from deployment_stacks where organization_id = ?",
    )
      .bind(world.id)
      .all<{ id: string }>();
    expect(results.map(({ id }) => id).toSorted()).toEqual(left.toSorted());
    const list = await world.client.get("/v1/deployments");
    expect(list.body.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(left.toSorted());
    const gone = await world.client.post(`/v1/deployments/${deployments[0]}/redeploy`, {});
    expect([gone.status, gone.body.error?.code ?? gone.body.code]).toEqual([404, "not_found"]);
  });

  it("lose their logs first", async () => {
    const worker = new Instrumented();
    const logged = await newLoggedDeployment(worker.fetch);
    const attempt = await start(logged);
    await append(logged, attempt, { stackId: logged.stackIds[0], offset: 0, body: "abc" });
    await attempt.complete("failed");
    const { deploymentId, world } = logged;
    // A newer one with the same status has made it history.
    await run("update deployments set configuration = '' where id = ?", deploymentId);
    await copyDeployment(deploymentId, 1, "'{}'");
    await run(
      "update deployments set created_at = ?1 where environment_id = ?2 and id <> ?3",
      ...[Date.now() + DAY_MS, logged.environmentId, deploymentId],
    );
    setShare(1);
    const getByName = vi.spyOn(env.ATTEMPT_LOG, "getByName").mockImplementation(() => {
      throw new Error("The object is not reachable");
    });
    await worker.sweep();
    getByName.mockRestore();
    expect(await idsOf("deployments", world.id)).toContain(deploymentId);
    await worker.sweep();
    expect(await idsOf("deployments", world.id)).not.toContain(deploymentId);
    const stored = await runInDurableObject(logObject(deploymentId), (_, { storage }) =>
      storage.sql.exec("select name from sqlite_master where name in ('log', 'chunks')").toArray(),
    );
    expect(stored).toEqual([]);
  });
});

describe("the audit log", () => {
  async function addAudit({ id }: World, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, at) => idAt(daysAgo(89) + at)).toSorted();
    await run(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
         target_id) select value, ?2, ?3 + key, 'project.deleted', 'success', 'operator', 'project', 'x'
       from json_each(?1)`,
      ...[JSON.stringify(ids), id, daysAgo(89)],
    );
    return ids;
  }

  const isOld = (time: number) => `created_at < ${time}`;

  it("is kept for 90 days, however large it is, and whatever the setting says", async () => {
    const world = await newWorld();
    const recent = await addAudit(world, 600);
    const [old] = [idAt(daysAgo(91))];
    await run(
      `insert into audit_log (id, organization_id, created_at, action, outcome, actor_type, target_type,
         target_id) values (?1, ?2, ?3, 'project.deleted', 'success', 'operator', 'project', 'x')`,
      ...[old, world.id, daysAgo(91)],
    );
    await countHistory();
    setShare(1);
    await sweep();
    const left = () => idsOf("audit_log", world.id, isOld(daysAgo(1)));
    expect(await left()).toEqual([old, ...recent]);
    await new Instrumented({ settings: { RETAIN_AUDIT_DAYS: "30" } }).sweep();
    expect(await left()).toEqual(recent);
  });

  it("loses its oldest entries if it is the largest in a database that is almost full", async () => {
    const [large, small] = [await newWorld(), await newWorld()];
    const ids = await addAudit(large, 1_400);
    const others = await addAudit(small, 700);
    await countHistory();
    let checks = 0;
    vi.spyOn(LIMITS.databaseCriticalBytes, "value", "get").mockImplementation(() => {
      checks += 1;
      return checks < 4 ? 1 : Number.MAX_SAFE_INTEGER;
    });
    const { logged } = await sweep();
    const left = (world: World) => idsOf("audit_log", world.id, isOld(daysAgo(1)));
    expect(await left(large)).toEqual(ids.slice(1_000));
    expect(await left(small)).toEqual(others);
    expect(logged.filter(({ level }) => level === "error")).toMatchObject([
      { event: "purge.audit_log", fields: { organizationId: large.id } },
    ]);
    expect((await sweep()).logged.filter(({ level }) => level === "error")).toEqual([]);
    expect(await left(large)).toEqual(ids.slice(1_000));
  });
});

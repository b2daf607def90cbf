import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { newFreeze } from "../../support/protection.ts";
import { claim } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";

/** A batch of D1: 50 ms. */
const MOST_UNITS = 50_000;
const QUEUED = LIMITS.unfinishedDeployments.value;

let world: World;
let project: Parsed;
let environmentId: string;
let pool: Pool;
let worker: Instrumented;

beforeEach(async () => {
  world = await newWorld();
  ({ project, environmentId, pool } = await newDeployableProject(world));
  worker = new Instrumented();
});

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run();

function largestUnits(): number {
  const units = worker.database.map(({ rowsRead = 0, rowsWritten = 0 }) =>
    unitsOf({ rows_read: rowsRead, rows_written: rowsWritten }),
  );
  worker.forget();
  return Math.max(...units);
}

const replace = (rules: object) =>
  world.client.via(worker.fetch).put(`/v1/environments/${environmentId}/protection`, rules);

/** As many queued deployments as the number says. */
async function queue(count: number): Promise<string> {
  const { id } = await newDeployment(world.client, environmentId, { queue: "fifo" });
  await copyRow(world.id, "deployments", id, newIdsOf(count - 1), {
    number: "source.number + 1 + item.key",
    created_at: "source.created_at + 1 + item.key",
  });
  return id;
}

/** Rules whose JSON, as it is stored, has so many bytes. */
function rulesOf(bytes: number): { sources: object[] } {
  const sources = (length: number) => ({
    sources: Array.from({ length: LIMITS.sourceRules.value }, (_, at) => ({
      issuer: "https://gitlab.com",
      repository_id: "74",
      ref: `refs/${"é".repeat(Math.min(495, Math.max(1, (length - 495 * at) >> 0)))}`,
    })),
  });
  const stored = (rules: object) =>
    new TextEncoder().encode(
      JSON.stringify({
        access: { deploy: { role: "contributor" }, configure: { role: "contributor" } },
        ...rules,
      }),
    ).length;
  const smallest = stored(sources(0));
  return sources(Math.floor((bytes - smallest) / 2) + 1);
}

describe("the rules of an environment", () => {
  it("have at most 32 KiB, and at most 10 environments to come from", async () => {
    const pointers = (length: number) => ({
      from: {
        environment_ids: [environmentId],
        same_configuration: {
          except: Array.from({ length: 20 }, () => `/${"é".repeat(length)}`),
        },
      },
    });
    const refused = await replace(pointers(900));
    expect([refused.status, refused.body.cause.issues[0].message]).toEqual([
      400,
      "Send rules of at most 32 KiB.",
    ]);
    // Its own environment is none to come from: the size is right.
    expect((await replace(pointers(700))).status).toBe(404);
    const ids = newIdsOf(LIMITS.rulePlaces.value + 1);
    const environments = (some: readonly string[]) => ({ from: { environment_ids: some } });
    expect((await replace(environments(ids))).status).toBe(400);
    await copyRow(world.id, "environments", environmentId, ids, { name: "item.value" });
    expect((await replace(environments(ids.slice(1)))).status).toBe(200);
  });

  it("are kept by queued deployments up to 1 MiB in total, and count toward the quota", async () => {
    await queue(QUEUED);
    const rules = rulesOf(10_000);
    expect((await replace(rules)).status).toBe(200);
    const size = Number(
      await env.DB.prepare(
        "select octet_length(rules) as n from environment_protections where environment_id = ?",
      )
        .bind(environmentId)
        .first("n"),
    );
    const keptBytes = () =>
      env.DB.prepare(
        "select sum(octet_length(kept_rules)) as n from deployments where environment_id = ?",
      )
        .bind(environmentId)
        .first<number>("n");
    const fitting = Math.floor(LIMITS.keptRulesBytes.value / (size + 3));
    expect(fitting).toBeLessThan(QUEUED - 1);
    const keep = (count: number) =>
      run(
        `update deployments set status = 'canceled', announced = 'canceled' where environment_id = ?1
           and status = 'queued' and id not in (select id from deployments where environment_id = ?1
             and status = 'queued' order by number limit ?2)`,
        environmentId,
        count,
      );
    await keep(fitting + 1);
    const refused = await replace({});
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining("1048576 bytes of earlier rules"),
    ]);
    expect(await keptBytes()).toBe(2 * QUEUED);
    await keep(fitting);
    const path = `/v1/orgs/${world.id}/usage`;
    const used = async () => (await world.client.get(path)).body.bytes.used;
    const before = await used();
    const setQuota = (bytes: number) =>
      run("insert or replace into quotas values (?, 'stored_bytes', ?)", world.id, bytes);
    await setQuota(before + fitting * size - 2 * size);
    expect((await replace({})).status).toBe(409);
    await setQuota(before + fitting * (size + 1));
    expect((await replace({})).status).toBe(200);
    expect((await used()) - before).toBeGreaterThan((fitting - 2) * size);
    // They have them already.
    for (const next of [rules, {}]) expect((await replace(next)).status).toBe(200);
  });

  it("are evaluated for as many queued deployments as there may be, and listed, in batches of at most 50 ms of D1", async () => {
    const ids = newIdsOf(LIMITS.rulePlaces.value);
    await copyRow(world.id, "environments", environmentId, ids, { name: "item.value" });
    const first = await queue(QUEUED);
    for (const id of ids) {
      await copyRow(world.id, "deployments", first, newIdsOf(30), {
        environment_id: `'${id}'`,
        number: "1 + item.key",
        ...{ status: "'succeeded'", announced: "'succeeded'", started_at: "source.created_at" },
      });
    }
    const rules = (seconds: number) => ({
      from: { environment_ids: ids, minimum_seconds: seconds },
      approvals: { required: 1, approvers: { role: "owner" } },
    });
    for (const seconds of [0, 1_000_000]) {
      // In the isolate of the first request, the organization would wait for what that has cost.
      worker = new Instrumented();
      expect((await replace(rules(seconds))).status).toBe(200);
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    }
    await worker.sweep();
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    const startable = await env.DB.prepare(
      `select count(*) as n from deployments where environment_id = ?1 and status = 'queued'
        and coalesce(held_until, 0) <= ?2`,
    )
      .bind(environmentId, Date.now())
      .first("n");
    expect(startable).toBe(0);
    worker = new Instrumented();
    const client = world.client.via(worker.fetch);
    expect((await client.get(`/v1/orgs/${world.id}/approvals`)).status).toBe(200);
    for (const { sql, params } of worker.database.flatMap(({ statements }) => statements)) {
      const { meta } = await env.DB.prepare(sql)
        .bind(...params)
        .all();
      expect(unitsOf(meta)).toBeLessThanOrEqual(MOST_UNITS);
    }
  });
});

describe("held deployments", () => {
  it("are evaluated in turns over the organizations, however many one has", async () => {
    await run("update deployments set status = 'canceled', announced = 'canceled'");
    const elsewhere = await newWorld();
    const other = await newDeployableProject(elsewhere);
    const { id: otherId } = await newDeployment(elsewhere.client, other.environmentId);
    await queue(60);
    await run("update deployments set held_until = null, evaluated_at = 1 where status = 'queued'");
    await run("update deployments set evaluated_at = 2 where id = ?", otherId);
    vi.spyOn(LIMITS.sweepHeld, "value", "get").mockReturnValue(20);
    onTestFinished(() => void vi.restoreAllMocks());
    await worker.sweep();
    const { results } = await env.DB.prepare(
      `select organization_id as id, sum(evaluated_at > 2) as evaluated from deployments
        where status = 'queued' group by organization_id`,
    ).all<{ id: string; evaluated: number }>();
    const evaluated = new Map(results.map((each) => [each.id, each.evaluated]));
    expect(evaluated.get(elsewhere.id)).toBe(1);
    expect(evaluated.get(world.id)).toBeGreaterThan(8);
    expect(evaluated.get(world.id)).toBeLessThan(30);
  });
});

describe("a freeze", () => {
  it.each(["organization", "project", "environment"])(
    "of 5,000 queued deployments (%s) takes at most 50 ms of D1, and none of them starts",
    async (kind) => {
      const id = await queue(2);
      await copyRow(world.id, "deployments", id, newIdsOf(5_000), {
        number: "source.number + 100 + item.key",
        created_at: "source.created_at + 100 + item.key",
      });
      const path = kind === "organization" ? `/v1/orgs/${world.id}` : `/v1/projects/${project.id}`;
      const only = kind === "environment" ? { environment_ids: [environmentId] } : {};
      const starts_at = new Date(Date.now() - 1_000).toISOString();
      const body = newFreeze({ starts_at, ...only });
      const reply = await world.client.via(worker.fetch).post(`${path}/freezes`, body);
      expect(reply.status).toBe(201);
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
      const held = await env.DB.prepare(
        "select count(*) as n from deployments where environment_id = ? and held_until is null",
      )
        .bind(environmentId)
        .first("n");
      expect(held).toBe(500);
      expect((await claim(pool.runner)).status).toBe(204);
    },
  );
});

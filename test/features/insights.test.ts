import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { LIMITS } from "../../src/lib/limits.ts";
import type { Client, Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { insertProjects } from "../support/lists.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newWorld,
  type World,
} from "../support/world.ts";

const DAY_MS = 86_400_000;
const OUTCOMES = ["succeeded", "failed", "canceled", "superseded"] as const;
type Outcome = (typeof OUTCOMES)[number];

interface Ended {
  environment: number;
  outcome: Outcome;
  finishedAt: number;
  /** Undefined: it never started. */
  startedAt: number | undefined;
  createdAt: number;
}

let world: World;
let number = 0;
beforeAll(async () => {
  world = await newWorld();
});

const pathOf = (projectId: string, query = "") => `/v1/projects/${projectId}/insights${query}`;
const today = () => new Date().toISOString().slice(0, 10);

/** A project with as many environments, without the requests that create them. */
async function insertEnvironments(count: number) {
  const projectId = newId(systemClock);
  const ids = Array.from({ length: count }, () => newId(systemClock));
  await insertProjects(world, [{ id: projectId, createdAt: 0 }]);
  const insert = `insert into environments (id, organization_id, project_id, name, configuration, created_at, updated_at)
    values (?1, ?2, ?3, 'e-' || cast(?4 as integer), '{}', ?4, 0)`;
  await env.DB.batch(ids.map((id, at) => env.DB.prepare(insert).bind(id, world.id, projectId, at)));
  return { projectId, ids };
}

/** Ends deployments as the Worker does: by an update of their status. */
async function end(projectId: string, ids: readonly string[], ended: readonly Ended[]) {
  for (const each of ended) {
    const { environment, outcome, createdAt, finishedAt, startedAt = null } = each;
    const id = newId({ now: () => createdAt });
    number += 1;
    const set = (columns: string) =>
      env.DB.prepare(
        `update deployments set status = ?2, announced = ?2, ${columns} where id = ?1`,
      );
    await env.DB.batch([
      env.DB.prepare(
        `insert into deployments (id, organization_id, project_id, environment_id, number, status, announced, queue, patch,
          configuration, created_at, updated_at) values (?1, ?2, ?3, ?4, ?5, 'queued', 'queued', 'fifo', '[]', '{}', ?6, ?6)`,
      ).bind(id, world.id, projectId, ids[environment] ?? null, number, createdAt),
      ...(startedAt === null ? [] : [set("started_at = ?3").bind(id, "in_progress", startedAt)]),
      set("finished_at = ?3, updated_at = ?3").bind(id, outcome, finishedAt),
    ]);
  }
}

const bucketOf = (ms: number) =>
  ms < 1_000 ? 0 : Math.min(63, 1 + Math.floor(3 * Math.log2(ms / 1_000)));

/** By nearest rank. */
function exactly(durations: readonly number[], share: number): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

function expectNear(shown: Parsed | undefined, durations: readonly number[]): void {
  expect(shown !== undefined).toBe(durations.length > 0);
  if (!shown) return;
  for (const [name, share] of [
    ["median", 0.5],
    ["p95", 0.95],
  ] as const) {
    const distance = bucketOf(1_000 * shown[name]) - bucketOf(exactly(durations, share));
    expect(Math.abs(distance), `${name} of ${durations}: ${shown[name]}`).toBeLessThanOrEqual(1);
  }
}

/** The times from the first failure after a success to the next success, by the day on which they end. */
function recoveriesOf(ended: readonly Ended[]): Map<number, number[]> {
  const found = new Map<number, number[]>();
  let failingSince: number | undefined;
  for (const { outcome, finishedAt } of ended) {
    if (outcome === "failed") failingSince ??= finishedAt;
    if (outcome !== "succeeded" || failingSince === undefined) continue;
    const day = Math.floor(finishedAt / DAY_MS);
    found.set(day, [...(found.get(day) ?? []), finishedAt - failingSince]);
    failingSince = undefined;
  }
  return found;
}

/** Compares what is shown of an environment with all that has ended in it. */
function expectCounted(days: readonly Parsed[], ended: readonly Ended[], since: number): void {
  const dayOf = ({ finishedAt }: Ended) => Math.floor(finishedAt / DAY_MS);
  const expected = [...new Set(ended.map(dayOf))]
    .filter((day) => day >= since)
    .toSorted((a, b) => a - b);
  const dates = expected.map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10));
  expect(days.map(({ date }) => date)).toEqual(dates);
  const recoveries = recoveriesOf(ended);
  for (const [at, day] of expected.entries()) {
    const shown = days[at] ?? {};
    const all = ended.filter((each) => dayOf(each) === day);
    const counts = Object.fromEntries(
      OUTCOMES.map((name) => [name, all.filter(({ outcome }) => outcome === name).length]),
    ) as Record<Outcome, number>;
    const { succeeded, failed } = counts;
    const recovered = recoveries.get(day) ?? [];
    const mean = recovered.reduce((sum, each) => sum + each, 0) / recovered.length / 1_000;
    expect(shown).toMatchObject({ ...counts, recoveries: recovered.length });
    expect(shown["recovery_seconds"]).toBe(recovered.length ? Math.round(mean) : undefined);
    expect(shown["failure_rate"]).toBe(
      succeeded + failed ? Math.round((1_000 * failed) / (succeeded + failed)) / 1_000 : undefined,
    );
    const started = all.flatMap((each) =>
      each.startedAt ? [{ ...each, startedAt: each.startedAt }] : [],
    );
    expectNear(
      shown["queued_seconds"],
      started.map((each) => each.startedAt - each.createdAt),
    );
    expectNear(
      shown["run_seconds"],
      started.map((each) => each.finishedAt - each.startedAt),
    );
  }
}

/** From below a second to weeks. */
const duration = fc
  .double({ min: 0, max: 21, noNaN: true })
  .map((octaves) => Math.floor(500 * 2 ** octaves));
const someEnd = fc.record({
  environment: fc.nat(1),
  outcome: fc.constantFrom(...OUTCOMES),
  hasStarted: fc.boolean(),
  queued: duration,
  run: duration,
  /** Before the next one: most of them on the same day. */
  gap: fc.oneof(fc.nat(3_600_000), fc.nat(12 * DAY_MS)),
});

/** In the order of their ends, of which the last is now. */
function historyOf(
  ends: readonly (typeof someEnd extends fc.Arbitrary<infer End> ? End : never)[],
): Ended[] {
  let finishedAt = Date.now();
  return ends
    .map(({ environment, outcome, hasStarted, queued, run, gap }) => {
      const startedAt = outcome === "succeeded" || hasStarted ? finishedAt - run : undefined;
      const createdAt = (startedAt ?? finishedAt) - queued;
      const ended = { environment, outcome, finishedAt, startedAt, createdAt };
      finishedAt -= gap;
      return ended;
    })
    .toReversed();
}

describe("the insights of a project", () => {
  it("count what has ended, after the purge and the retention, too, as a naive recomputation does", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someEnd, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: LIMITS.insightDays.value }),
        fc.nat(40),
        async (ends, days, purgedAfter) => {
          const { projectId, ids } = await insertEnvironments(2);
          const history = historyOf(ends);
          const [before, after] = [history.slice(0, purgedAfter), history.slice(purgedAfter)];
          await end(projectId, ids, before);
          await env.DB.prepare("delete from deployments where project_id = ? and number % 2")
            .bind(projectId)
            .run();
          await new Instrumented().sweep();
          await end(projectId, ids, after);
          await new Instrumented().sweep();
          const { client } = await newKey(world);
          const { body } = await client.get(pathOf(projectId, `?days=${days}&sort_by=created_at`));
          expect(body.data.map(({ id }: Parsed) => id)).toEqual(ids);
          const since = Math.floor(Date.now() / DAY_MS) + 1 - days;
          for (const [environment, shown] of body.data.entries()) {
            expectCounted(
              shown.days,
              history.filter((each) => each.environment === environment),
              since,
            );
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it("have the day and its counts for each way in which the API ends a deployment", async () => {
    const { project, environmentId, pool } = await newDeployableProject(world);
    const { client } = world;
    const read = async () => (await client.get(pathOf(project.id))).body.data[0].days;
    expect(await read()).toEqual([]);
    const first = await newDeployment(client, environmentId);
    await client.patch(`/v1/deployments/${first.id}/cancel`);
    const none = { succeeded: 0, failed: 0, canceled: 1, superseded: 0, recoveries: 0 };
    expect(await read()).toEqual([{ date: today(), ...none }]);
    await newDeployment(client, environmentId);
    await newDeployment(client, environmentId);
    await (await Attempt.started(pool.runner)).complete("failed");
    expect(await read()).toMatchObject([{ failed: 1, superseded: 1, failure_rate: 1 }]);
    await newDeployment(client, environmentId);
    await (await Attempt.started(pool.runner)).succeed();
    const durations = { median: expect.any(Number), p95: expect.any(Number) };
    expect(await read()).toEqual([
      {
        ...{ date: today(), succeeded: 1, failed: 1, canceled: 1, superseded: 1 },
        ...{ failure_rate: 0.5, recoveries: 1, recovery_seconds: expect.any(Number) },
        ...{ queued_seconds: durations, run_seconds: durations },
      },
    ]);
  });

  it("keep 400 days, and the last of each environment, which knows whether it failed", async () => {
    const { projectId, ids } = await insertEnvironments(2);
    const ago = (days: number, environment: number, outcome: Outcome): Ended => {
      const at = (Math.floor(Date.now() / DAY_MS) - days) * DAY_MS;
      return { environment, outcome, createdAt: at, startedAt: at, finishedAt: at + 1_000 };
    };
    await end(projectId, ids, [
      ...[ago(900, 0, "failed"), ago(402, 0, "failed"), ago(399, 0, "canceled")],
      ...[ago(800, 1, "succeeded"), ago(700, 1, "failed")],
    ]);
    const kept = async () => {
      const { results } = await env.DB.prepare(
        "select environment_id, day from deployment_days where project_id = ? order by day",
      )
        .bind(projectId)
        .all<{ environment_id: string; day: number }>();
      return results.map((row) => [
        ids.indexOf(row.environment_id),
        Math.floor(Date.now() / DAY_MS) - row.day,
      ]);
    };
    expect(await kept()).toHaveLength(5);
    await new Instrumented().sweep();
    expect(await kept()).toEqual([
      [1, 700],
      [0, 399],
    ]);
    await end(projectId, ids, [ago(1, 0, "succeeded"), ago(0, 1, "succeeded")]);
    const { body } = await world.client.get(pathOf(projectId, "?sort_by=created_at"));
    const recovered = body.data.map(({ days: [day] }: Parsed) => day.recovery_seconds);
    expect(recovered).toEqual([899 * 86_400, 700 * 86_400]);
  });

  it("have the days that are asked for, today included, and 30 without a number", async () => {
    const { projectId, ids } = await insertEnvironments(1);
    const ended = [90, 89, 30, 29, 1, 0].map((days) => {
      const at = (Math.floor(Date.now() / DAY_MS) - days) * DAY_MS;
      return {
        environment: 0,
        outcome: "failed" as const,
        createdAt: at,
        startedAt: undefined,
        finishedAt: at,
      };
    });
    await end(projectId, ids, ended);
    const count = async (query: string) =>
      (await world.client.get(pathOf(projectId, query))).body.data[0].days.length;
    expect(await count("?days=1")).toBe(1);
    expect(await count("?days=2")).toBe(2);
    expect(await count("")).toBe(3);
    expect(await count("?days=31")).toBe(4);
    expect(await count("?days=90")).toBe(5);
    for (const days of ["0", "91", "-1", "1.5", "x", ""])
      expect((await world.client.get(pathOf(projectId, `?days=${days}`))).status).toBe(400);
  });

  it("are pages of environments, without those of other projects, of deleted ones, and beyond a key", async () => {
    const { projectId, ids } = await insertEnvironments(4);
    const at = Date.now();
    const ended = ids.map((_, environment) => ({
      environment,
      outcome: "failed" as const,
      createdAt: at,
      startedAt: at,
      finishedAt: at,
    }));
    await end(projectId, ids, ended);
    const other = await insertEnvironments(1);
    await end(other.projectId, other.ids, ended.slice(0, 1));
    const idsFor = async (client: Client, query = "") => {
      const { body } = await client.get(pathOf(projectId, `?sort_by=created_at${query}`));
      return body.data.map(({ id }: Parsed) => id);
    };
    expect(await idsFor(world.client)).toEqual(ids);
    const { body } = await world.client.get(pathOf(projectId, "?limit=3&sort_by=created_at"));
    expect([body.data.length, body.has_more]).toEqual([3, true]);
    expect(await idsFor(world.client, `&after=${encodeURIComponent(body.next_page)}`)).toEqual(
      ids.slice(3),
    );
    const { client } = await newKey(world, { environmentIds: ids.slice(1, 3) });
    expect(await idsFor(client)).toEqual(ids.slice(1, 3));
    expect((await world.client.delete(`/v1/environments/${ids[1]}`)).status).toBe(204);
    expect(await idsFor(world.client)).toEqual(ids.filter((_, each) => each !== 1));
    await new Instrumented().sweep();
    const { results } = await env.DB.prepare(
      "select environment_id from deployment_days where project_id = ?",
    )
      .bind(projectId)
      .all();
    expect(results).toHaveLength(3);
  });
});

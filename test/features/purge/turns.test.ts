import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { meter } from "../../../src/db/metered-session.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { copyDeliveries } from "../../support/copied-deliveries.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import {
  newDeployableProject,
  newDeployment,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

const MINUTE_MS = 60_000;
const TOMBSTONES = "1".repeat(22);

/** What the last run has cost, in units of a row that is read. */
let units: number;
/** The most that one of its statements outside of batches has cost. */
let largestRead: number;

function metered(): D1Database {
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    const add = (cost: number) => (units += cost);
    const reading = meter(session, (cost) => {
      add(cost);
      largestRead = Math.max(largestRead, cost);
    });
    const { batch } = meter(session, add);
    return { ...reading, batch, getBookmark: () => session.getBookmark() };
  };
  return { withSession } as unknown as D1Database;
}

/** One run of the schedule. Returns what it has cost. */
async function sweep(): Promise<number> {
  [units, largestRead] = [0, 0];
  const isolate = new Instrumented({ database: metered() });
  await isolate.sweep();
  expect(isolate.logged.filter(({ level }) => level === "error")).toEqual([]);
  return units;
}

async function count(table: string, where: string, ...values: string[]): Promise<number> {
  const query = env.DB.prepare(`select count(*) as n from ${table} where ${where}`);
  return (await query.bind(...values).first<number>("n")) ?? 0;
}

/** As the API leaves them: tombstones, without rows. Deleted an hour ago. */
async function addDeletedEnvironments(world: World, total: number): Promise<string> {
  const { id: projectId } = await newProject(world.client);
  const deletedAt = Date.now() - 60 * MINUTE_MS;
  const ids = JSON.stringify(Array.from({ length: total }, () => newId({ now: () => deletedAt })));
  await env.DB.batch([
    env.DB.prepare(
      "insert or ignore into organizations (id, name, created_at, updated_at) values (?1, '', 0, 0)",
    ).bind(TOMBSTONES),
    env.DB.prepare(
      `insert into environments (id, organization_id, name, created_at, updated_at, project_id,
         configuration) select value, ?2, char(127) || value, 1, 1, ?3, '{}' from json_each(?1)`,
    ).bind(ids, TOMBSTONES, projectId),
    env.DB.prepare(
      "insert into purges select value, ?2, 'environment', value, ?3 from json_each(?1)",
    ).bind(ids, world.id, deletedAt),
  ]);
  return projectId;
}

async function endDeployment({ client }: World, environmentId: string): Promise<string> {
  const { id } = await newDeployment(client, environmentId, {});
  await env.DB.prepare(
    "update deployments set status = 'failed', announced = 'failed' where id = ?",
  )
    .bind(id)
    .run();
  return id;
}

/** A project with a deployment, deleted just now: the newest mark. */
async function deleteProject(world: World): Promise<string> {
  const { project, environmentId } = await newDeployableProject(world);
  const projectId: string = project.id;
  await endDeployment(world, environmentId);
  expect((await world.client.delete(`/v1/projects/${projectId}`)).status).toBe(204);
  expect(await count("deployments", "project_id = ?", projectId)).toBe(1);
  return projectId;
}

beforeEach(async () => {
  // Those that `DELETE /v1/orgs` of another test has left would have their own turns.
  await env.DB.prepare("delete from purges").run();
  vi.spyOn(LIMITS.purgeBatches, "value", "get").mockRestore();
});

describe("the purge takes organizations in turn", () => {
  it("so that 1,000 deletions of one organization delay another's by less than two runs", async () => {
    const [busy, other] = [await newWorld(), await newWorld()];
    const live = await addDeletedEnvironments(busy, 1_000);
    const deleted = await deleteProject(other);
    const ofDeleted = () => count("projects", "id = ?", deleted);
    const ofBusy = () => count("purges", "organization_id = ?", busy.id);
    const costs: number[] = [];
    for (let run = 0; run < 2 && (await ofDeleted()) > 0; run += 1) costs.push(await sweep());
    expect(await ofDeleted()).toBe(0);
    expect(await count("purges", "organization_id = ?", other.id)).toBe(0);
    while (costs.length < 3 && (await ofBusy()) > 0) costs.push(await sweep());
    expect(await ofBusy()).toBe(0);
    // The default environment is alive.
    expect(await count("environments", "project_id = ?", live)).toBe(1);
    expect(await count("projects", "id = ?", live)).toBe(1);
    // A quarter of a second of D1, in all runs.
    expect(Math.max(...costs)).toBeLessThan(250_000);
  });

  it("and each has its turn while one has more rows than fit in a run", async () => {
    vi.spyOn(LIMITS.purgeBatches, "value", "get").mockReturnValue(30);
    const [large, ...others] = await Promise.all(Array.from({ length: 4 }, () => newWorld()));
    if (!large) throw new Error("It has no organization");
    const { id: projectId } = await newProject(large.client);
    const integration = await newIntegration(large.client, projectId);
    const rows = 40 * LIMITS.purgeRows.value;
    await copyDeliveries(integration.id, rows);
    await large.client.delete(
      `/v1/projects/${projectId}/notification-integrations/${integration.id}`,
    );
    const deleted = await Promise.all(others.map(deleteProject));
    await sweep();
    const left = await count("deliveries", "integration_id = ?", integration.id);
    expect(left).toBeLessThan(rows);
    expect(left).toBeGreaterThan(0);
    await sweep();
    for (const id of deleted) expect(await count("projects", "id = ?", id)).toBe(0);
    onTestFinished(async () => void (await env.DB.prepare("delete from deliveries").run()));
  });

  it("in an order that differs from run to run, so that none is always beyond the limits", async () => {
    vi.spyOn(LIMITS.purgeBatches, "value", "get").mockReturnValue(6);
    const worlds = await Promise.all(Array.from({ length: 8 }, () => newWorld()));
    for (const world of worlds) await addDeletedEnvironments(world, 300);
    const left = async () => {
      const marks = worlds.map(({ id }) => count("purges", "organization_id = ?", id));
      return (await Promise.all(marks)).join();
    };
    const runs = [await left()];
    while (runs.length < 30 && runs.at(-1) !== "0,0,0,0,0,0,0,0") {
      await sweep();
      runs.push(await left());
    }
    expect(runs.at(-1)).toBe("0,0,0,0,0,0,0,0");
    // In turn: no organization is done before others have begun.
    expect(runs.length).toBeGreaterThan(4);
  });
});

describe("the purge of one organization's resources", () => {
  it("keeps the mark of a resource that has a row that it did not find, and removes the others", async () => {
    const world = await newWorld();
    const projectId = await addDeletedEnvironments(world, 3);
    const { results } = await env.DB.prepare(
      "select record_id as id from purges where organization_id = ?",
    )
      .bind(world.id)
      .all<{ id: string }>();
    const [held = ""] = results.map(({ id }) => id);
    const late = newId({ now: () => Date.now() });
    const inserted = `insert into stacks (id, organization_id, name, created_at, updated_at, environment_id,
      project_id) values ('${late}', '${TOMBSTONES}', 'late', 1, 1, '${held}', '${projectId}')`;
    await new Instrumented({ database: beforeTombstones(inserted) }).sweep();
    expect(await count("purges", "organization_id = ?", world.id)).toBe(1);
    expect(await count("environments", "id = ?", held)).toBe(1);
    await sweep();
    expect(await count("purges", "organization_id = ?", world.id)).toBe(0);
    expect(await count("stacks", "id = ?", late)).toBe(0);
  });

  it("reads 500 rows for each batch of deployments without a log, however many there are", async () => {
    const world = await newWorld();
    const { project, environmentId } = await newDeployableProject(world);
    const projectId: string = project.id;
    const id = await endDeployment(world, environmentId);
    const columns = (
      await env.DB.prepare("select name from pragma_table_info('deployments')").all<{
        name: string;
      }>()
    ).results
      .map(({ name }) => name)
      .filter((name) => name !== "id" && name !== "number");
    const total = 10 * LIMITS.purgeRows.value;
    await env.DB.prepare(
      `with recursive n(i) as (select 2 union all select i + 1 from n where i < ?1)
       insert into deployments (id, number, ${columns}) select substr(id, 1, 17) || printf('%05d', i), i,
         ${columns} from n join deployments on deployments.id = ?2`,
    )
      .bind(total, id)
      .run();
    expect((await world.client.delete(`/v1/projects/${projectId}`)).status).toBe(204);
    await sweep();
    expect(await count("projects", "id = ?", projectId)).toBe(0);
    expect(largestRead).toBeLessThan(3 * LIMITS.purgeRows.value);
  });
});

/** Runs `statement` before the batch that deletes tombstones. */
function beforeTombstones(statement: string): D1Database {
  let isInserted = false;
  const withSession = (constraint: string) => {
    const session = env.DB.withSession(constraint);
    return {
      prepare: (sql: string) => {
        if (!isInserted && /^delete from "environments"/.test(sql)) {
          isInserted = true;
          waiting = env.DB.prepare(statement).run();
        }
        return session.prepare(sql);
      },
      batch: async (statements: D1PreparedStatement[]) => {
        await waiting;
        return session.batch(statements);
      },
      getBookmark: () => session.getBookmark(),
    };
  };
  let waiting: Promise<unknown> | undefined;
  return { withSession } as unknown as D1Database;
}

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { unitsOf } from "../../../src/lib/database-units.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import type { Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIdsOf } from "../../support/long-lists.ts";
import { Attempt } from "../../support/runner.ts";
import { connect, newPool, newProject, newWorld, type World } from "../../support/world.ts";

/** Of a batch of D1: 50 ms. */
const MOST_UNITS = 50_000;
/** Rows that one statement of a test adds. */
const ADDED = 5_000;

interface Size {
  environments: number;
  components: number;
  stacks: number;
  variables: number;
  alarms: number;
}

let worker: Instrumented;

beforeEach(() => {
  // With a clock that stands still, the purge makes no pauses.
  const now = Date.now();
  worker = new Instrumented({ clock: { now: () => now } });
});

function largestUnits(): number {
  const units = worker.database.map(({ rowsRead = 0, rowsWritten = 0 }) =>
    unitsOf({ rows_read: rowsRead, rows_written: rowsWritten }),
  );
  worker.forget();
  return Math.max(...units);
}

/** `values` of `count` rows, each from one of the `places` in turn: rows of the table `place`. */
async function add(
  place: { table: string; ids: readonly string[] },
  into: string,
  columns: string,
  values: string,
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at += ADDED) {
    const ids = newIdsOf(Math.min(ADDED, count - at));
    await env.DB.prepare(
      `insert into ${into} (id, organization_id, project_id, created_at, updated_at, ${columns})
       select added.value, place.organization_id, place.project_id, added.key, 0, ${values}
       from json_each(?1) as added cross join ${place.table} as place
       on place.id = ?2 ->> ('$[' || (added.key % json_array_length(?2)) || ']')`,
    )
      .bind(JSON.stringify(ids), JSON.stringify(place.ids))
      .run();
  }
}

async function idsOf(table: string, where: string, id: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`select id from ${table} where ${where} = ? limit 5000`)
    .bind(id)
    .all<{ id: string }>();
  return results.map((row) => row.id);
}

/** In the environment, or in the environments that are added to its project. */
async function fill(projectId: string, environmentId: string, size: Size): Promise<void> {
  const environment = { table: "environments", ids: [environmentId] };
  const name = "'n' || added.value";
  await add(environment, "environments", "name, configuration", `${name}, '{}'`, size.environments);
  const isProject = size.environments > 0;
  const places = isProject ? await idsOf("environments", "project_id", projectId) : [environmentId];
  const inside = { table: "environments", ids: places };
  await add(
    inside,
    "components",
    "environment_id, name, kind",
    `place.id, ${name}, 'service'`,
    size.components,
  );
  await add(inside, "stacks", "environment_id, name", `place.id, ${name}`, size.stacks);
  await add(
    inside,
    "variables",
    "environment_id, scope_id, name, storage_method, resource_id, value, version",
    `place.id, place.id, ${name}, 'string', added.value, 'v', 1`,
    size.variables,
  );
  const where: readonly [string, string] = isProject
    ? ["project_id", projectId]
    : ["environment_id", environmentId];
  const stacks = { table: "stacks", ids: await idsOf("stacks", ...where) };
  await add(
    stacks,
    "alarms",
    "stack_id, environment_id, name, state, changed_at",
    `place.id, place.environment_id, ${name}, 'ok', 0`,
    size.alarms,
  );
}

const variableNamed = (name: string) => ({ name, storage_method: "string", value: "v" });

const recordsOf = async ({ client, id }: World) =>
  (await client.get(`/v1/orgs/${id}/usage`)).body.records;

describe("the deletion of the largest", () => {
  it.each<[string, Size]>([
    [
      "project",
      {
        environments: 9_990,
        components: 20_000,
        stacks: 20_000,
        variables: 20_000,
        alarms: 20_000,
      },
    ],
    [
      "environment",
      { environments: 0, components: 5_000, stacks: 499, variables: 999, alarms: 5_000 },
    ],
  ])(
    "%s takes at most 50 ms of D1, and the purge does the rest in such steps",
    async (kind, size) => {
      const world = await newWorld();
      const project = await newProject(world.client);
      const path = `/v1/projects/${project.id}`;
      const { body } = await world.client.post(`${path}/environments`, { name: "largest" });
      const before = await recordsOf(world);
      await fill(project.id, body.id, size);
      const full = await recordsOf(world);
      expect(full.variables.used).toBe(size.variables);

      const deleted = kind === "project" ? path : `/v1/environments/${body.id}`;
      expect((await world.client.via(worker.fetch).delete(deleted)).status).toBe(204);
      expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
      const left = await recordsOf(world);
      expect(left.variables.used).toBeLessThan(full.variables.used);
      expect(left.variables.used).toBeGreaterThan(0);

      for (
        let runs = 0;
        (await idsOf("purges", "organization_id", world.id)).length > 0;
        runs += 1
      ) {
        expect(runs).toBeLessThan(10);
        await worker.sweep();
        expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
      }
      const after = await recordsOf(world);
      const kinds = ["components", "stacks", "variables", "alarms"];
      expect(kinds.map((each) => after[each])).toEqual(kinds.map((each) => before[each]));
    },
  );

  it("component takes at most 50 ms of D1, and no request finds what is left of it", async () => {
    const world = await newWorld();
    const { client } = world;
    const { id: projectId, default_environment_id: environmentId } = await newProject(client);
    await connect(client, projectId);
    const { runner } = await newPool(world, [environmentId]);
    const environment = `/v1/environments/${environmentId}`;
    const { body: component } = await client.post(`${environment}/components`, {
      name: "largest",
      kind: "service",
    });
    const { body: stack } = await client.post(`${environment}/stacks`, {
      name: "first",
      component_id: component.id,
    });
    const { body: kept } = await client.post(`${environment}/variables`, variableNamed("KEPT"));
    const before = await recordsOf(world);
    const inside = { table: "components", ids: [component.id] };
    const name = "'n' || added.value";
    await add(
      inside,
      "stacks",
      "environment_id, component_id, name",
      `place.environment_id, place.id, ${name}`,
      LIMITS.stacksOfEnvironment.value - 1,
    );
    await add(
      inside,
      "variables",
      "environment_id, component_id, scope_id, name, storage_method, resource_id, value, version",
      `place.environment_id, place.id, place.id, ${name}, 'string', added.value, 'v', 1`,
      LIMITS.variablesOfEnvironment.value - 1,
    );

    const deletion = await client.via(worker.fetch).delete(`/v1/components/${component.id}`);
    expect(deletion.status).toBe(204);
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    const [left] = await idsOf("variables", "component_id", component.id);
    expect((await client.get(`/v1/variables/${left}`)).status).toBe(404);
    expect((await client.get(`/v1/variables/${kept.id}`)).status).toBe(200);
    expect((await client.get(`/v1/components/${component.id}/variables`)).status).toBe(404);
    expect((await client.get(`/v1/stacks/${stack.id}`)).body).not.toHaveProperty("component_id");
    await client.post(`${environment}/deployments`, { stack_ids: [stack.id] });
    const { body: delivered } = await (await Attempt.started(runner)).variables();
    expect(delivered.variables.map((each: Parsed) => each.name)).toEqual(["KEPT"]);
    const again = { name: "again", component_id: component.id };
    expect((await client.post(`${environment}/stacks`, again)).status).toBe(404);
    for (const statement of [
      "update stacks set component_id = ?1 where id = ?2",
      `insert into variables (id, organization_id, project_id, environment_id, component_id, scope_id,
           name, storage_method, resource_id, value, version, created_at, updated_at)
         select 'late', organization_id, project_id, environment_id, ?1, ?1, 'LATE', 'string', 'late', 'v', 1, 0, 0
         from stacks where id = ?2`,
    ]) {
      const late = env.DB.prepare(statement).bind(component.id, stack.id).run();
      await expect(late).rejects.toThrow("FOREIGN KEY constraint failed");
    }

    await worker.sweep();
    expect(largestUnits()).toBeLessThanOrEqual(MOST_UNITS);
    expect(await idsOf("purges", "organization_id", world.id)).toEqual([]);
    expect(await idsOf("components", "id", component.id)).toEqual([]);
    const after = await recordsOf(world);
    expect(after.variables.used).toBe(before.variables.used);
    expect(after.components.used).toBe(before.components.used - 1);
  });
});

import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { Ownership } from "../../src/db/ownership.ts";
import { FEATURES } from "../../src/features/index.ts";
import { projects } from "../../src/features/tenancy/project-table.ts";
import { createMissing } from "../support/created.ts";
import { Instrumented } from "../support/instruments.ts";
import { newDelivery, newIntegration, newRecovery } from "../support/integrations.ts";
import { addProtection } from "../support/protection.ts";
import { Attempt } from "../support/runner.ts";
import {
  connect,
  join,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newWorld,
  type World,
} from "../support/world.ts";

const TABLES = FEATURES.flatMap(({ tables = [] }) => tables);
const owned = new Ownership(TABLES).ownedBy(projects).map((table) => getTableName(table));

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

/** Creates a project with at least one row in every table that a project owns. */
async function newFullProject(): Promise<string> {
  const { client } = world;
  const { id, default_environment_id: environmentId } = await newProject(client);
  await connect(client, id);
  const inside = await newInside(client, environmentId);
  const { stack_id: stackId = "" } = inside;
  await client.put(`/v1/stacks/${stackId}/alarms/latency`, { state: "alarm" });
  const { membershipId } = await join(world);
  await client.post(`/v1/projects/${id}/members`, { member_ids: [membershipId] });
  const integration = await newIntegration(client, id);
  const deliveryId = await newDelivery(integration.id);
  const recoveryId = await newRecovery(integration.id);
  await env.DB.prepare("insert into delivery_attempts values (?1, 1, ?2, 1, 1, 200, null, null)")
    .bind(deliveryId, world.id)
    .run();
  const { runner } = await newPool(world, [environmentId]);
  const deployment = await newDeployment(client, environmentId);
  const attempt = await Attempt.started(runner);
  const resource = { template_id: "Bucket", physical_id: "b", resource_type: "AWS::S3::Bucket" };
  const resources = [{ ...resource, status: "CREATE_COMPLETE" }];
  await attempt.report(stackId, { seq: 1, status: "succeeded", resources });
  expect((await attempt.complete("succeeded")).body.status).toBe("succeeded");
  await env.DB.prepare("insert into configuration_digests values (?1, '', ?2, ?3, '')")
    .bind(deployment.id, world.id, environmentId)
    .run();
  const ofDeliveries = { integration_id: integration.id, delivery_id: deliveryId };
  const ids = { ...inside, project_id: id, deployment_id: deployment.id, recovery_id: recoveryId };
  await addProtection(world, id);
  await createMissing(client, { ...ids, ...ofDeliveries });
  const { data } = (await client.get(`/v1/projects/${id}/environments`)).body;
  const environment_ids = data.map((each: { id: string }) => each.id);
  await client.put(`/v1/projects/${id}/environment-order`, { environment_ids });
  return id;
}

async function countRows(): Promise<Record<string, number>> {
  const counts = owned.map(async (table) => {
    const count = await env.DB.prepare(`select count(*) as n from ${table}`).first<number>("n");
    return [table, count ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe("the manifests of the features", () => {
  it("declare every table of the database exactly once", async () => {
    const { results } = await env.DB.prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'
        and name not like '\\_cf%' escape '\\' and name <> 'd1_migrations'`,
    ).all<{ name: string }>();
    const declared = TABLES.map(({ table }) => getTableName(table));
    expect(declared.toSorted()).toEqual(results.map(({ name }) => name).toSorted());
  });

  it("delete every table with a project_id with its project, or give the reason why it outlives it", () => {
    const undeclared = TABLES.filter(({ table }) => "projectId" in table)
      .filter(({ table, outlivesProject }) => {
        return owned.includes(getTableName(table)) === (outlivesProject !== undefined);
      })
      .map(({ table }) => getTableName(table));
    expect(undeclared).toEqual([]);
    expect(owned.length).toBeGreaterThan(10);
  });
});

describe("the deletion of a project", () => {
  it("with the purge, deletes its rows in every table that a project owns, and keeps those of other projects", async () => {
    await newFullProject();
    const before = await countRows();
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
    const id = await newFullProject();
    const both = await countRows();
    for (const table of owned) expect(both[table], table).toBeGreaterThan(before[table] ?? 0);
    expect((await world.client.delete(`/v1/projects/${id}`)).status).toBe(204);
    await new Instrumented().sweep();
    expect(await countRows()).toEqual(before);
  });
});

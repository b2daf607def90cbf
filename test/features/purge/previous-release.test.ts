import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/lib/ids.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newInside, newProject, newResource, newWorld } from "../../support/world.ts";

const DAY_MS = 86_400_000;
const idBefore = (days: number) => newId({ now: () => Date.now() - days * DAY_MS });

beforeEach(reset);

const run = (...statements: string[]) => env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));

async function idsIn(table: string): Promise<string[]> {
  const { results } = await env.DB.prepare(`select id from ${table} order by id`).all<{
    id: string;
  }>();
  return results.map(({ id }) => id);
}

describe("a database of the previous release", () => {
  it("is migrated and purged: deliveries with their own data, the changelog and the audit log", async () => {
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.startsWith("0010"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    const [old, pending, recent] = [idBefore(60), idBefore(59), idBefore(1)];
    const [ancient, entry] = [idBefore(500), idBefore(60)];
    const delivery = (id: string, status: string) =>
      `insert into deliveries values ('${id}', 'o', 'p', 'i', 'e', 'ping', '{"integration_id":"i"}', 1,
         '${status}', 1, 9000000000000000, null, 9000000000000000, 1, 1, 1, null)`;
    const change = (id: string) =>
      `insert into changelog_entries (id, organization_id, project_id, action, record_type, record_id,
         created_at) values ('${id}', 'o', 'p', 'created', 'stack', 's', 1)`;
    await run(
      "insert into organizations (id, name, created_at, updated_at) values ('o', 'o', 1, 1)",
      `insert into projects (id, organization_id, name, default_environment_id, connection_status,
         created_at, updated_at) values ('p', 'o', 'p', 'x', 'disconnected', 1, 1)`,
      `insert into integrations (id, organization_id, project_id, type, configuration, url, shown_url,
         created_at, updated_at) values ('i', 'o', 'p', 'webhook', '{}', 'sealed', '', 1, 1)`,
      ...[old, recent].map((id) => delivery(id, "succeeded")),
      delivery(pending, "pending"),
      `insert into delivery_attempts select id, 1, 'o', 1, 1, 200, null, null from deliveries`,
      ...[ancient, entry].map(change),
      ...[ancient, entry].map(
        (id) => `insert into audit_records values ('${id}', 'o', 'p', 'a', 'm', 'k',
          'variable.revealed', 'v', 1)`,
      ),
    );
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    await new Instrumented().sweep();
    expect(await idsIn("deliveries")).toEqual([pending, recent]);
    const { results } = await env.DB.prepare(
      "select delivery_id as id from delivery_attempts",
    ).all();
    expect(results.map(({ id }) => id).toSorted()).toEqual([pending, recent].toSorted());
    for (const table of ["changelog_entries", "audit_log", "audit_records"]) {
      expect(await idsIn(table), table).toEqual([entry]);
    }
  });
});

describe("while the previous release still runs", () => {
  it("its deletion of an environment deletes the tombstones in it, and the purge goes on", async () => {
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
    const world = await newWorld();
    const project = await newProject(world.client);
    const environments = `/v1/projects/${project.id}/environments`;
    const { body } = await world.client.post(environments, { name: "gone" });
    const inside = await newInside(world.client, body.id);
    await newResource(String(inside["stack_id"]));
    const neighbor = await newInside(world.client, project.default_environment_id);
    expect((await world.client.delete(`/v1/stacks/${inside["stack_id"]}`)).status).toBe(204);
    await run(
      `delete from resources where environment_id = '${body.id}'`,
      `delete from variables where environment_id = '${body.id}'`,
      `delete from stacks where environment_id = '${body.id}'`,
      `delete from components where environment_id = '${body.id}'`,
      `delete from environments where id = '${body.id}'`,
    );
    await new Instrumented().sweep();
    expect(await idsIn("purges")).toEqual([]);
    expect(await idsIn("stacks")).toEqual([neighbor["stack_id"]]);
  });
});

import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";

beforeEach(reset);

const run = (...statements: string[]) => env.DB.batch(statements.map((sql) => env.DB.prepare(sql)));

const disconnectedAt = async (id: string) =>
  env.DB.prepare("select disconnected_at from projects where id = ?").bind(id).first();

const project = (id: string, status: string) =>
  `insert into projects (id, organization_id, name, default_environment_id, connection_status,
     created_at, updated_at) values ('${id}', 'o', 'p', 'e-${id}', '${status}', 1, 7)`;
const environment = (id: string) =>
  `insert into environments (id, organization_id, project_id, name, configuration, created_at,
     updated_at) values ('e-${id}', 'o', '${id}', 'production', '{}', 1, 1)`;
const deployment = (id: string, number: number, status: string, source: string) =>
  `insert into deployments (id, organization_id, project_id, environment_id, number, status, announced,
     queue, patch, configuration, source, created_at, updated_at)
   values ('d-${id}-${number}', 'o', '${id}', 'e-${id}', ${number}, '${status}', '${status}', 'fifo',
     '[]', '{}', ${source}, 1, 1)`;

describe("a database of the previous release", () => {
  beforeEach(async () => {
    const at = env.TEST_MIGRATIONS.findIndex(({ name }) => name.endsWith("deployment_inputs.sql"));
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS.slice(0, at));
    const ids = ["new", "deployed", "recorded", "connected", "ending"];
    await run(
      "insert into organizations (id, name, created_at, updated_at) values ('o', 'o', 1, 1)",
      ...ids.map((id) =>
        project(id, { connected: "connected", ending: "disconnecting" }[id] ?? "disconnected"),
      ),
      ...ids.map(environment),
      deployment("deployed", 1, "succeeded", `'{"registry":{"image":"a"}}'`),
      deployment("deployed", 2, "succeeded", `'{"registry":{"image":"b"}}'`),
      deployment("deployed", 3, "failed", `'{"registry":{"image":"c"}}'`),
      deployment("connected", 1, "succeeded", "null"),
      deployment("ending", 1, "in_progress", `'{"registry":{"image":"d"}}'`),
      `insert into changelog_entries (id, organization_id, project_id, action, record_type, record_id,
         created_at) values ('c', 'o', 'recorded', 'disconnected', 'project', 'recorded', 1)`,
    );
    await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
  });

  it("has disconnected projects that somebody has disconnected, and new ones", async () => {
    expect(await disconnectedAt("new")).toEqual({ disconnected_at: null });
    expect(await disconnectedAt("connected")).toEqual({ disconnected_at: null });
    for (const id of ["deployed", "recorded", "ending"]) {
      expect(await disconnectedAt(id), id).toEqual({ disconnected_at: 7 });
    }
  });

  it("knows what each environment runs: the source of its last success", async () => {
    const { results } = await env.DB.prepare(
      "select id, source from environments where source is not null",
    ).all();
    expect(results).toEqual([{ id: "e-deployed", source: '{"registry":{"image":"b"}}' }]);
  });

  it("counts a disconnection by the previous release, until the project is connected again", async () => {
    await run(
      "update projects set connection_status = 'disconnecting', updated_at = 9 where id = 'connected'",
    );
    expect(await disconnectedAt("connected")).toEqual({ disconnected_at: 9 });
    await run(
      "update projects set connection_status = 'disconnected', updated_at = 11 where id = 'connected'",
    );
    expect(await disconnectedAt("connected")).toEqual({ disconnected_at: 9 });
    await run(
      "update projects set connection_status = 'connected', updated_at = 12 where id = 'connected'",
    );
    expect(await disconnectedAt("connected")).toEqual({ disconnected_at: null });
  });
});

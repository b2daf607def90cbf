import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { newId } from "../../../src/lib/ids.ts";
import { Client, type Parsed } from "../../support/client.ts";
import {
  connect,
  join,
  newDeployment,
  newKey,
  newPool,
  newProject,
  newStack,
  newTrust,
  newWorld,
  type World,
} from "../../support/world.ts";

let world: World;
let project: Parsed;
let environmentId: string;
let environment: string;

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client);
  environmentId = project.default_environment_id;
  environment = `/v1/environments/${environmentId}`;
});

const numbered = (count: number) =>
  JSON.stringify(Array.from({ length: count }, () => newId(systemClock)));

/** Inserts `count` rows; `value` and `key` are the ID and the index of each. */
const insert = (sql: string, count: number, ...values: unknown[]) =>
  env.DB.prepare(`insert into ${sql} from json_each(?1)`)
    .bind(numbered(count), ...values)
    .run();

describe("an environment", () => {
  it("has at most 500 stacks", async () => {
    await insert(
      "stacks (id, organization_id, project_id, environment_id, component_id, name, created_at, updated_at, record_version) select value, ?2, ?3, ?4, null, 'n-' || key, 0, 0, 1",
      499,
      world.id,
      project.id,
      environmentId,
    );
    const create = (name: string) => world.client.post(`${environment}/stacks`, { name });
    const last = await create("last");
    expect(last.status).toBe(201);
    const refused = await create("one-more");
    expect([refused.status, refused.body.message]).toEqual([
      409,
      "The limit of 500 stacks in an environment is reached. Delete some first, or send less.",
    ]);
    expect((await world.client.put(`/v1/stacks/${last.body.id}`, { name: "renamed" })).status).toBe(
      200,
    );
    expect((await world.client.delete(`/v1/stacks/${last.body.id}`)).status).toBe(204);
    expect((await create("one-more")).status).toBe(201);
  });

  it("has at most 1,000 variables, including those of its components", async () => {
    const { body: component } = await world.client.post(`${environment}/components`, {
      name: "api",
      kind: "service",
    });
    await insert(
      `variables select value, ?2, ?3, ?4, ?5, ?5, 'N_' || key, 'string', value, 'test.AAAA', 1, 0, 0`,
      998,
      world.id,
      project.id,
      environmentId,
      component.id,
    );
    const put = (mode: string, ...names: string[]) =>
      world.client.put(`${environment}/variables`, {
        mode,
        variables: names.map((name) => ({ name, storage_method: "string", value: "x" })),
      });
    expect((await put("merge", "A", "B", "C")).status).toBe(409);
    expect((await put("merge", "A", "B")).status).toBe(200);
    expect((await put("merge", "B", "A")).status).toBe(200);
    expect((await put("merge", "C")).body.message).toContain("1000 variables of an environment");
    expect((await put("replace", "C", "D")).status).toBe(200);
    const create = (name: string) =>
      world.client.post(`/v1/components/${component.id}/variables`, {
        name,
        storage_method: "string",
        value: "",
      });
    expect((await create("ANOTHER")).status).toBe(409);
    expect((await put("replace", "C")).status).toBe(200);
    expect((await create("ANOTHER")).status).toBe(201);
  });

  it("has at most 1 MiB of values, to the byte", async () => {
    const variables = (count: number, bytes: number, from = 0) =>
      Array.from({ length: count }, (_, at) => ({
        name: `V_${from + at}`,
        storage_method: "secret",
        value: "x".repeat(bytes),
      }));
    const put = (...all: object[]) =>
      world.client.put(`${environment}/variables`, { mode: "merge", variables: all });
    expect((await put(...variables(31, 32_768))).status).toBe(200);
    const [big] = variables(1, 32_766, 31);
    const refused = await put(...variables(1, 32_766, 31), ...variables(1, 3, 32));
    expect(refused.body.message).toContain("1048576 bytes of values in an environment");
    expect((await put(...variables(1, 32_766, 31), ...variables(1, 2, 32))).status).toBe(200);
    const list = (await world.client.get(`${environment}/variables?limit=240`)).body.data;
    const { id } = list.find(({ name }: Parsed) => name === "V_32");
    const replace = (value: string) =>
      world.client.put(`/v1/variables/${id}`, { ...big, name: "V_32", value });
    expect((await replace("xxx")).status).toBe(409);
    expect((await replace("yy")).status).toBe(200);
    expect((await replace("")).status).toBe(200);
    // Without the form marker.
    await env.DB.prepare("update variables set value = replace(value, '.v2.', '.')").run();
    expect((await replace("xxx")).status).toBe(409);
    expect((await replace("yy")).status).toBe(200);
  });

  it("that already exceeds a limit may shrink but not grow", async () => {
    await insert(
      `variables select value, ?2, ?3, ?4, null, ?4, 'N_' || key, 'string', value, 'test.AAAA', 1, 0, 0`,
      1_002,
      world.id,
      project.id,
      environmentId,
    );
    const { body } = await world.client.get(`${environment}/variables?limit=1`);
    const [{ id, name }] = body.data;
    const value = { name, storage_method: "string", value: "x" };
    expect((await world.client.put(`/v1/variables/${id}`, value)).status).toBe(200);
    expect((await world.client.delete(`/v1/variables/${id}`)).status).toBe(204);
    expect((await world.client.post(`${environment}/variables`, value)).status).toBe(409);
  });

  it("has at most 200 queued deployments, unless a new one supersedes them", async () => {
    await connect(world.client, project.id);
    await newStack(world.client, environmentId);
    await insertDeployments(199, "queued");
    const deploy = (queue: string) => world.client.post(`${environment}/deployments`, { queue });
    expect((await deploy("fifo")).status).toBe(201);
    expect((await deploy("fifo")).body.message).toContain("200 unfinished deployments");
    expect((await deploy("supersede")).status).toBe(201);
    expect((await deploy("fifo")).status).toBe(201);
  });

  it("keeps the configurations of its newest 1,000 deployments and of unfinished ones", async () => {
    await connect(world.client, project.id);
    const stackId = await newStack(world.client, environmentId);
    const [oldest, running, ...rest] = await insertDeployments(1_001, "succeeded");
    await env.DB.prepare(
      `insert into deployment_stacks (deployment_id, stack_id, organization_id, environment_id, position,
         status, seq, timestamp, deployment_created_at)
       select value, ?2, ?3, ?4, 0, 'succeeded', 1, 0, 0 from json_each(?1)`,
    )
      .bind(JSON.stringify([oldest, rest.at(-1)]), stackId, world.id, environmentId)
      .run();
    await env.DB.prepare("update deployments set status = 'in_progress' where id = ?")
      .bind(running)
      .run();
    const redeploy = (id = "") => world.client.post(`/v1/deployments/${id}/redeploy`, undefined);
    const promote = (id = "") =>
      world.client.post(`/v1/deployments/${id}/promote`, { environment_id: environmentId });
    expect((await redeploy(oldest)).status).toBe(201);
    const refused = await redeploy(oldest);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining("newest 1000 deployments"),
    ]);
    expect((await promote(oldest)).status).toBe(409);
    expect((await world.client.get(`/v1/deployments/${oldest}`)).body.status).toBe("succeeded");
    await newDeployment(world.client, environmentId, { queue: "fifo" });
    const cleared = await env.DB.prepare(
      "select id from deployments where environment_id = ? and configuration = ''",
    )
      .bind(environmentId)
      .all<{ id: string }>();
    // Three deployments are beyond the newest 1,000, and one of them is unfinished.
    expect(cleared.results.map(({ id }) => id).toSorted()).toEqual([oldest, rest[0]].toSorted());
    expect((await redeploy(rest.at(-1))).status).toBe(201);
  });

  async function insertDeployments(count: number, status: string): Promise<string[]> {
    const { results } = await env.DB.prepare(
      `insert into deployments (id, organization_id, project_id, environment_id, number, status,
         announced, queue, patch, configuration, created_at, updated_at)
       select value, ?2, ?3, ?4, key + 1, ?5, ?5, 'fifo', '[]', '{"a":1}', key, 0 from json_each(?1)
       returning id`,
    )
      .bind(numbered(count), world.id, project.id, environmentId, status)
      .all<{ id: string }>();
    return results.map(({ id }) => id);
  }
});

describe("credentials", () => {
  it("include at most 100 API keys for each membership", async () => {
    const member = await join(world);
    await insert(
      `api_keys (id, organization_id, membership_id, name, role, secret_hash, last_four, created_at)
        select value, ?2, ?3, 'k', 'member', value, 'abcd', 0`,
      98,
      world.id,
      member.membershipId,
    );
    const create = async (membershipId: string) =>
      world.client.post(`/v1/orgs/${world.id}/api-keys`, {
        name: "ci",
        membership_id: membershipId,
        role: "member",
      });
    const last = await create(member.membershipId);
    expect(last.status).toBe(201);
    const refused = await create(member.membershipId);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining("100 API keys of a membership"),
    ]);
    expect((await create(world.membershipId)).status).toBe(201);
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${last.body.id}`);
    expect((await create(member.membershipId)).status).toBe(201);
  });

  it("include at most 100 tokens for each runner pool, beside those of its trusts", async () => {
    const [pool, other] = [
      await newPool(world, [environmentId]),
      await newPool(world, [environmentId]),
    ];
    await insert(
      `runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, created_at)
        select value, ?2, ?3, 't', value, 'abcd', 0`,
      98,
      world.id,
      pool.id,
    );
    await insert(
      `runner_tokens (id, organization_id, pool_id, name, secret_hash, last_four, created_at,
        trust_id, expires_at)
        select 'of-trust-' || value, ?2, ?3, 't', 'of-trust-' || value, 'abcd', 0, ?4, ?5`,
      100,
      world.id,
      pool.id,
      await newTrust(world, { poolId: pool.id }),
      Date.now() + 900_000,
    );
    const create = async ({ id }: { id: string }) =>
      (await world.client.post(`/v1/orgs/${world.id}/runner-pools/${id}/tokens`, { name: "t" }))
        .status;
    expect([await create(pool), await create(pool), await create(other)]).toEqual([201, 409, 201]);
  });
});

describe("an account", () => {
  it("creates organizations until it owns 25", async () => {
    const { client } = await newKey(world);
    const create = () => client.post("/v1/orgs", { name: "Another" });
    for (let owned = 1; owned < 25; owned += 1) expect((await create()).status).toBe(201);
    const refused = await create();
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining("25 organizations that an account owns"),
    ]);
    const { client: another } = await join(world);
    expect((await another.post("/v1/orgs", { name: "Mine" })).status).toBe(201);
  });

  it("creates none if the deployment does not allow it", async () => {
    const app = createApp({ log: () => undefined });
    const bindings = { ...env, ALLOW_NEW_ORGANIZATIONS: "false" };
    const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined };
    const fetch = (request: Request) =>
      app.fetch(request, bindings as Env, execution as unknown as ExecutionContext);
    const client = new Client(world.client.key, fetch);
    const refused = await client.post("/v1/orgs", { name: "Another" });
    expect([refused.status, refused.body.code]).toEqual([403, "unauthorized"]);
    expect((await client.get("/v1/orgs")).body.data).toHaveLength(1);
    expect((await world.client.post("/v1/orgs", { name: "Another" })).status).toBe(201);
  });
});

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { countedTables } from "../../../scripts/lib/usage-triggers.ts";
import { USAGE_KINDS } from "../../../src/features/housekeeping/usage/model.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { type LimitedKind, QUOTAS } from "../../../src/lib/resource-types.ts";
import type { Parsed, Reply } from "../../support/client.ts";
import { exampleBody, operationAt, operations } from "../../support/contract.ts";
import { pathWith } from "../../support/created.ts";
import { newIntegration } from "../../support/integrations.ts";
import { Attempt } from "../../support/runner.ts";
import {
  connect,
  join,
  newDeployment,
  newEmail,
  newInside,
  newPool,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

type Counted = Record<string, { used: number; bytes: number }>;

async function scan(organizationId: string): Promise<Counted> {
  const rows = USAGE_KINDS.map(async (kind) => {
    const tables = countedTables().filter((table) => table.kind === kind);
    const sums = (column: "records" | "bytes") =>
      tables.map(
        (table) =>
          `coalesce((select sum(${table[column](table.name)}) from ${table.name} where organization_id = ?1), 0)`,
      );
    const row = await env.DB.prepare(
      `select ${sums("records").join(" + ")} as used, ${sums("bytes").join(" + ")} as bytes`,
    )
      .bind(organizationId)
      .first<{ used: number; bytes: number }>();
    return [kind, row] as const;
  });
  return Object.fromEntries(await Promise.all(rows)) as Counted;
}

async function readUsage(world: World): Promise<{ counted: Counted; body: Parsed }> {
  const { body } = await world.client.get(`/v1/orgs/${world.id}/usage`);
  const counted = Object.fromEntries(
    Object.entries(body.records as Counted).map(([kind, { used, bytes }]) => [
      kind,
      { used, bytes },
    ]),
  );
  return { counted, body };
}

const setUsage = (organizationId: string, kind: string, fields: string) =>
  env.DB.batch([
    env.DB.prepare("insert into usage values (?1, ?2, 0, 0) on conflict do nothing").bind(
      organizationId,
      kind,
    ),
    env.DB.prepare(`update usage set ${fields} where organization_id = ?1 and kind = ?2`).bind(
      organizationId,
      kind,
    ),
  ]);

let world: World;
let project: Parsed;
let environment: string;
let inside: Record<string, string>;

beforeEach(async () => {
  world = await newWorld();
  project = await newProject(world.client, { description: "Ünïcode 🔑" });
  environment = `/v1/environments/${project.default_environment_id}`;
  inside = await newInside(world.client, project.default_environment_id);
});

describe("usage", () => {
  it("counts every write of every kind exactly, whether it adds or removes bytes", async () => {
    const { client } = world;
    await connect(client, project.id);
    const pool = await newPool(world, [project.default_environment_id]);
    const integration = await newIntegration(client, project.id, ["changelog"]);
    const steps: (() => Promise<unknown>)[] = [
      () =>
        client.put(`/v1/projects/${project.id}`, {
          ...REPLACED,
          default_environment_id: project.default_environment_id,
        }),
      () => client.put(environment, { name: "production", configuration: { a: "ü".repeat(500) } }),
      () => client.put(environment, { name: "p", configuration: {} }),
      () => client.put(`/v1/stacks/${inside["stack_id"]}/alarms/cpu`, { state: "ok", reason: "ä" }),
      () => client.put(`/v1/stacks/${inside["stack_id"]}/alarms/cpu`, { state: "ok" }),
      () =>
        client.put(`${environment}/variables`, {
          mode: "replace",
          variables: [
            { name: "A", storage_method: "string", value: "longer than before" },
            { name: "B", storage_method: "secret", value: "" },
          ],
        }),
      () =>
        client.post(
          `/v1/projects/${project.id}/notification-integrations/${integration.id}/rotate-secret`,
          undefined,
        ),
      () => newDeployment(client, project.default_environment_id, { reason: "why" }),
      () => join(world),
      () => client.delete(`/v1/components/${inside["component_id"]}`),
      () => client.delete(`/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens/${pool.tokenId}`),
      async () => {
        const other = await newProject(client);
        await newInside(client, other.default_environment_id);
        expect((await readUsage(world)).counted).toEqual(await scan(world.id));
        expect((await client.delete(`/v1/projects/${other.id}`)).status).toBe(204);
      },
    ];
    for (const step of steps) {
      await step();
      const { counted, body } = await readUsage(world);
      expect(counted).toEqual(await scan(world.id));
      const total = Object.values(counted).reduce((sum, { bytes }) => sum + bytes, 0);
      expect(body.bytes).toEqual({ used: total, allowed: 1_073_741_824 });
    }
  });

  it("does not count a batch that is rolled back", async () => {
    const before = await scan(world.id);
    expect(
      (await world.client.post(`${environment}/stacks`, { name: "x".repeat(128) })).status,
    ).toBe(201);
    expect(
      (await world.client.post(`${environment}/stacks`, { name: "x".repeat(128) })).status,
    ).toBe(409);
    const { counted } = await readUsage(world);
    expect(counted["stacks"]?.used).toBe(Number(before["stacks"]?.used) + 1);
    expect(counted).toEqual(await scan(world.id));
  });
});

const REPLACED = { name: "shorter", icon: "icon:ship" };

/** Creates one resource of each kind that the example of a POST does not create. */
const CREATIONS: { [Kind in LimitedKind]?: () => Promise<Reply> } = {
  projects: () => world.client.post("/v1/projects", { name: crypto.randomUUID() }),
  stacks: () => world.client.post(`${environment}/stacks`, { name: "another" }),
  variables: () =>
    world.client.post(`${environment}/variables`, {
      name: "ANOTHER",
      storage_method: "string",
      value: "x",
    }),
  alarms: () =>
    world.client.put(`/v1/stacks/${inside["stack_id"]}/alarms/another`, { state: "ok" }),
  members: () =>
    world.client.post(`/v1/orgs/${world.id}/members`, {
      email: newEmail(),
      name: "Grace",
      role: "member",
    }),
  runner_pools: () =>
    world.client.post(`/v1/orgs/${world.id}/runner-pools`, {
      name: "another",
      environment_ids: [project.default_environment_id],
    }),
  integrations: () =>
    world.client.post(`/v1/projects/${project.id}/notification-integrations`, {
      type: "webhook",
      configuration: {},
      url: "https://hooks.example.com/another",
    }),
};

function createExample(kind: LimitedKind): Promise<Reply> {
  const collection = `/${kind.replaceAll("_", "-")}`;
  const creation = operations.find(
    ({ method, path }) => method === "POST" && path.endsWith(collection),
  );
  if (!creation) throw new Error(`Add a request that creates one of the ${kind} to CREATIONS`);
  const ids = { org_id: world.id, project_id: project.id, ...inside };
  return world.client.post(pathWith(creation, ids), exampleBody(creation));
}

const create = (kind: LimitedKind) => (CREATIONS[kind] ?? (() => createExample(kind)))();

/** Those of a project and of a pool need another resource each: they have a test of their own. */
const CREATED = (Object.keys(QUOTAS) as LimitedKind[]).filter(
  (kind) => kind !== "project_members" && kind !== "runner_tokens",
);

describe("a quota", () => {
  it.each(CREATED)("of %s allows the last record and rejects the next, by name", async (kind) => {
    const { body } = await readUsage(world);
    const { used, allowed } = body.records[kind];
    await setUsage(world.id, kind, `records = ${allowed}`);
    const before = await scan(world.id);
    const refused = await create(kind);
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(refused.body.message).toContain(`${allowed} ${kind.replaceAll("_", " ")}`);
    expect(await scan(world.id)).toEqual(before);
    await setUsage(world.id, kind, `records = ${allowed - 1}`);
    const created = await create(kind);
    expect(created.status).toBeLessThan(300);
    expect((await readUsage(world)).body.records[kind].used, `triggers of ${kind}`).toBe(allowed);
    await expectCounted(kind);
    const location = created.headers.get("location");
    for (const method of location ? ["PATCH", "DELETE"] : []) {
      const change = operationAt(method, String(location));
      await world.client.request(method, String(location), change && exampleBody(change));
      await expectCounted(kind);
    }
    await setUsage(world.id, kind, `records = ${used + 1}`);
  });

  /** The test sets the number of rows. */
  async function expectCounted(kind: LimitedKind): Promise<void> {
    const { counted } = await readUsage(world);
    expect(counted[kind]?.bytes, `triggers of ${kind}`).toBe((await scan(world.id))[kind]?.bytes);
  }

  it("of alarms and bytes rejects a new alarm of a runner, by name, and no change of one", async () => {
    const pool = await newPool(world, [project.default_environment_id]);
    const other = await newWorld();
    const report = (name: string, body: object) =>
      pool.runner.put(`/v1/stacks/${inside["stack_id"]}/alarms/${name}`, body);
    expect((await report("cpu", { state: "ok" })).status).toBe(200);
    await setUsage(other.id, "alarms", `records = ${QUOTAS.alarms}`);
    const longer = { state: "alarm", reason: "x".repeat(1_000) };
    const quotas = [
      [`records = ${QUOTAS.alarms}`, `${QUOTAS.alarms} alarms`, `records = ${QUOTAS.alarms - 1}`],
      [
        `records = 0, bytes = ${LIMITS.storedBytes.value}`,
        `${LIMITS.storedBytes.value} bytes`,
        "bytes = 0",
      ],
    ] as const;
    for (const [full, name, free] of quotas) {
      await setUsage(world.id, "alarms", full);
      const before = await scan(world.id);
      const refused = await report(`new ${name}`, { state: "alarm" });
      expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
      expect(refused.body.message).toContain(name);
      expect(await scan(world.id)).toEqual(before);
      expect((await report("cpu", longer)).status).toBe(200);
      expect((await report("cpu", { state: "ok" })).status).toBe(200);
      await setUsage(world.id, "alarms", free);
      expect((await report(`new ${name}`, { state: "alarm" })).status).toBe(200);
    }
  });

  it("of variables allows a bulk write of existing ones, and rejects one with another name", async () => {
    const variable = (name: string) => ({ name, storage_method: "string", value: "new" });
    const write = (...names: string[]) => {
      const body = { mode: "merge", variables: names.map(variable) };
      return world.client.put(`${environment}/variables`, body);
    };
    expect((await write("ONE", "OTHER")).status).toBe(200);
    const { used } = (await readUsage(world)).body.records.variables;
    await setUsage(world.id, "variables", `records = ${QUOTAS.variables}`);
    expect((await write("ONE", "OTHER")).status).toBe(200);
    expect((await write("ONE", "THIRD")).status).toBe(409);
    await setUsage(world.id, "variables", `records = ${used}`);
    expect((await write("ONE", "THIRD")).status).toBe(200);
  });

  it("of bytes rejects a longer URL of a webhook, and allows one of the same length", async () => {
    const all = `/v1/projects/${project.id}/notification-integrations`;
    const created = await world.client.post(all, {
      type: "webhook",
      configuration: {},
      url: "https://hooks.example.com/one",
    });
    const change = (url: string) => world.client.patch(`${all}/${created.body.id}`, { url });
    await setUsage(world.id, "integrations", `bytes = ${LIMITS.storedBytes.value}`);
    expect((await change("https://hooks.example.com/one/and/more")).status).toBe(409);
    expect((await change("https://hooks.example.com/two")).status).toBe(200);
    await setUsage(world.id, "integrations", "bytes = 1000");
    expect((await change("https://hooks.example.com/one/and/more")).status).toBe(200);
  });

  it("of project members and runner tokens rejects the record after the last", async () => {
    const pool = await newPool(world, [project.default_environment_id]);
    const [one, other] = [await join(world), await join(world)];
    await setUsage(world.id, "runner_tokens", "records = 1000");
    await setUsage(world.id, "project_members", "records = 99999");
    const tokens = `/v1/orgs/${world.id}/runner-pools/${pool.id}/tokens`;
    expect((await world.client.post(tokens, { name: "x" })).status).toBe(409);
    const members = `/v1/projects/${project.id}/members`;
    const add = (...ids: string[]) => world.client.post(members, { member_ids: ids });
    expect((await add(one.membershipId, other.membershipId)).status).toBe(409);
    expect((await add(one.membershipId)).status).toBe(201);
  });

  it("of bytes rejects only requests that add bytes, by name", async () => {
    const { client } = world;
    await connect(client, project.id);
    const pool = await newPool(world, [project.default_environment_id]);
    await client.put(environment, { name: "production", configuration: { a: "12345" } });
    const queued = await newDeployment(client, project.default_environment_id, { queue: "fifo" });
    const running = await Attempt.started(pool.runner);
    const reportAlarm = () =>
      pool.runner.put(`/v1/stacks/${inside["stack_id"]}/alarms/of-runner`, { state: "ok" });
    await reportAlarm();
    await setUsage(world.id, "deployments", `bytes = ${LIMITS.storedBytes.value}`);
    const growing = [
      ...CREATED.filter((kind) => kind !== "members").map((kind) => () => create(kind)),
      () =>
        client.put(`/v1/projects/${project.id}`, {
          default_environment_id: project.default_environment_id,
          description: "x".repeat(900),
        }),
      () => client.post(`${environment}/deployments`, {}),
      () =>
        client.put(`/v1/variables/${inside["variable_id"]}`, {
          name: "A",
          storage_method: "string",
          value: "x".repeat(100),
        }),
    ];
    for (const grow of growing) {
      const { status, body } = await grow();
      expect([status, body.message], String(grow)).toEqual([
        409,
        expect.stringContaining("1073741824 bytes"),
      ]);
    }
    const others = [
      () => client.get(`/v1/orgs/${world.id}/usage`),
      () =>
        client.put(`/v1/projects/${project.id}`, {
          default_environment_id: project.default_environment_id,
          name: "x",
        }),
      () =>
        running.report(String(inside["stack_id"]), {
          seq: 1,
          status: "succeeded",
          resources: [RESOURCE],
        }),
      reportAlarm,
      () => running.succeed(),
      () => client.delete(`/v1/components/${inside["component_id"]}`),
      () => client.put(environment, { name: "production", configuration: { a: "12345" } }),
    ];
    for (const request of others)
      expect((await request()).status, String(request)).toBeLessThan(300);
    expect((await client.patch(`/v1/deployments/${queued.id}/cancel`)).status).toBe(409);
  });

  it("of bytes counts those of a changed text, not its characters, and allows the last one", async () => {
    const { client } = world;
    const organization = `/v1/orgs/${world.id}`;
    const newKey = await client.post(`${organization}/api-keys`, { name: "x" });
    const newPool = await client.post(`${organization}/runner-pools`, {
      name: "x",
      environment_ids: [project.default_environment_id],
    });
    const changes: Record<string, (name: string) => Promise<Reply>> = {
      key: (name) => client.patch(`${organization}/api-keys/${newKey.body.id}`, { name }),
      pool: (name) => client.patch(`${organization}/runner-pools/${newPool.body.id}`, { name }),
      environment: (name) => client.put(environment, { name: "eu", configuration: { name } }),
      project: (name) =>
        client.put(`/v1/projects/${project.id}`, {
          default_environment_id: project.default_environment_id,
          name,
        }),
    };
    const leave = async (bytes: number) => {
      const others = await env.DB.prepare(
        "select sum(bytes) as sum from usage where organization_id = ? and kind <> 'deployments'",
      )
        .bind(world.id)
        .first<number>("sum");
      const used = LIMITS.storedBytes.value - Number(others) - bytes;
      await setUsage(world.id, "deployments", `bytes = ${used}`);
    };
    for (const [kind, to] of Object.entries(changes)) {
      await leave(1_000);
      const statuses = [(await to("Grün")).status];
      await leave(1);
      statuses.push((await to("Grüün")).status);
      await leave(0);
      statuses.push((await to("Gruen")).status);
      await leave(2);
      statuses.push((await to("Grüün")).status);
      expect(statuses, kind).toEqual([200, 409, 200, 200]);
    }
  });
});

const RESOURCE = {
  template_id: "Bucket",
  physical_id: "bucket",
  resource_type: "AWS::S3::Bucket",
  status: "CREATE_COMPLETE",
};

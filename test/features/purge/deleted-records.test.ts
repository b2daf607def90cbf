import { env } from "cloudflare:workers";
import { getTableName } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { FEATURES } from "../../../src/features/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { hmacHex } from "../../../src/lib/digest.ts";
import { newId } from "../../../src/lib/ids.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { READS } from "../../support/all-reads.ts";
import { Client, type Parsed, type Reply } from "../../support/client.ts";
import { exampleBody, type Operation, operations, sendsText } from "../../support/contract.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newDelivery, newIntegration } from "../../support/integrations.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { type Ids, newIds, pathWith, textRequest } from "../../support/operations.ts";
import { copiesOf } from "../../support/template.ts";
import { newDeployment, newKey, newWorld, type World } from "../../support/world.ts";

const OF_STACK = ["stack_id", "resource_id"];
const OF_ENVIRONMENT = [
  ...OF_STACK,
  "environment_id",
  "component_id",
  "variable_id",
  "deployment_id",
  "attempt_id",
];
const OF_INTEGRATION = ["integration_id", "delivery_id"];

const parametersOf = ({ path }: Operation) =>
  [...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => String(name));

/** The parameters with the names of tables that have a `project_id`. */
const IN_PROJECT = operations.flatMap(parametersOf).filter((name) => {
  const tables = FEATURES.flatMap(({ tables = [] }) => tables.map(({ table }) => table));
  const found = tables.find((table) => getTableName(table) === name.replace(/_id$/, "s"));
  return found && "projectId" in found;
});

/** By the DELETE: the path parameters whose records it deletes. */
const DELETED = {
  deleteProject: [...new Set(["project_id", ...OF_ENVIRONMENT, ...OF_INTEGRATION, ...IN_PROJECT])],
  deleteEnvironment: OF_ENVIRONMENT,
  deleteComponent: ["component_id"],
  deleteStack: OF_STACK,
  deleteIntegration: OF_INTEGRATION,
};

function operationNamed(id: string): Operation {
  const found = operations.find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`There is no ${id}`);
  return found;
}

/** Records of every kind, without an active deployment, in an environment that is not the default. */
async function newDeletable(world: World): Promise<Ids> {
  const ids = await newIds({ ...world, client: (await newKey(world)).client });
  await new Client(ids["runner"]).request(
    "POST",
    `/v1/runner/attempts/${ids["attempt_id"]}/complete`,
    { outcome: "failed" },
    { "lease-token": String(ids["lease"]) },
  );
  const { client } = await newKey(world);
  const project = `/v1/projects/${ids["project_id"]}`;
  const { body } = await client.post(`${project}/environments`, { name: "other" });
  const { status } = await client.put(project, { default_environment_id: body.id });
  expect(status).toBe(200);
  return { ...ids, other_environment_id: body.id };
}

const newOriginal = copiesOf(async () => {
  const world = await newWorld();
  const ids = await newDeletable(world);
  return { world, ids, neighbors: await newDeletable(world) };
});

/** An organization with two projects of such records. */
async function newFixture() {
  const { ids, ...others } = await newOriginal();
  const copied: Ids = {
    ...ids,
    lease: await hmacHex(env.LEASE_SECRET, String(ids["attempt_id"])),
  };
  return { ...others, ids: copied };
}

/** By the table: the parameter of its record. */
const CROWDED = {
  environments: "environment_id",
  components: "component_id",
  stacks: "stack_id",
  variables: "variable_id",
} as const;

/** Precedes the records with as many others of their kind as a DELETE deletes at once. */
async function crowd(world: World, ids: Ids): Promise<void> {
  for (const [table, parameter] of Object.entries(CROWDED)) {
    const id = ids[parameter];
    await copyRow(world.id, table, id, newIdsOf(LIMITS.deletedRows.value), {
      name: "'0-' || item.key",
      created_at: "source.created_at - 1 - item.key",
      ...(table === "variables" && { resource_id: "item.value" }),
    });
    await env.DB.prepare(
      `update ${table} set rowid = (select max(rowid) from ${table}) + 1 where id = ?`,
    )
      .bind(String(id))
      .run();
  }
}

/** The tables in which the record is still in its organization. */
async function findLeft(world: World, ids: Ids): Promise<string[]> {
  const found = Object.entries(CROWDED).map(async ([table, parameter]) => {
    const row = await env.DB.prepare(`select organization_id from ${table} where id = ?`)
      .bind(String(ids[parameter]))
      .first<{ organization_id: string }>();
    return row?.organization_id === world.id ? [table] : [];
  });
  return (await Promise.all(found)).flat();
}

/** By the DELETE: the tables in which it leaves the records of many to the purge. */
const LEFT: Record<string, readonly string[]> = {
  deleteProject: Object.keys(CROWDED),
  deleteEnvironment: ["components", "stacks", "variables"],
};

const CASES = Object.entries(DELETED).flatMap(([operationId, deleted]) => {
  const crowds = operationId in LEFT ? [false, true] : [false];
  return crowds.map((isCrowded) => ({ operationId, deleted, isCrowded }));
});

const SENT_BY_KEY = 20;
let current: { world: World; client: Client; sent: number } | undefined;

/** Each key has its own rate limit. */
async function clientOf(world: World): Promise<Client> {
  if (current?.world !== world || current.sent === SENT_BY_KEY) {
    current = { world, client: (await newKey(world)).client, sent: 0 };
  }
  current.sent += 1;
  return current.client;
}

async function send(world: World, operation: Operation, ids: Ids): Promise<Reply> {
  const isRunner = operation.path.startsWith("/v1/runner/");
  const client = isRunner ? new Client(ids["runner"]) : await clientOf(world);
  const headers = isRunner ? { "lease-token": String(ids["lease"]) } : {};
  const {
    path,
    body,
    headers: added,
  } = sendsText(operation)
    ? textRequest(operation, ids)
    : { path: pathWith(operation, ids), body: exampleBody(operation), headers: {} };
  return client.request(operation.method, path, body, { ...headers, ...added });
}

const idsIn = ({ body }: Reply): string[] =>
  [body, ...(Array.isArray(body?.data) ? body.data : [])].map((each: Parsed) => each?.id);

describe.each(CASES)(
  "before the purge, after $operationId (of many: $isCrowded)",
  ({ operationId, deleted, isCrowded }) => {
    let world: World;
    let ids: Ids;
    let neighbors: Ids;

    beforeAll(async () => {
      ({ world, ids, neighbors } = await newFixture());
      if (isCrowded) await crowd(world, ids);
      expect((await send(world, operationNamed(operationId), ids)).status).toBe(204);
    });

    const isDeleted = (name: string) => deleted.includes(name);

    if (isCrowded) {
      it("the records are left to the purge", async () => {
        expect(await findLeft(world, ids)).toEqual(LEFT[operationId]);
      });
    }

    // A deployment, and its attempt, keep the IDs of deleted stacks.
    const affected = operations.filter(
      (each) =>
        parametersOf(each).some(isDeleted) &&
        (isDeleted("attempt_id") || !parametersOf(each).includes("attempt_id")),
    );

    it.each(affected.map((each) => [each.operationId, each] as const))(
      "%s answers as for an ID that never existed",
      async (_, operation) => {
        const name = parametersOf(operation).findLast(isDeleted) ?? "";
        const reply = await send(world, operation, ids);
        const unknown = await send(world, operation, { ...ids, [name]: newId(systemClock) });
        expect([reply.status, reply.text]).toEqual([404, unknown.text]);
      },
    );

    it.each(READS.map((each) => [each.operationId, each] as const))(
      "%s contains none of the records, and finds their neighbors",
      async (_, operation) => {
        const found = await send(world, operation, neighbors);
        expect(found.status).toBe(200);
        const deletedIds = deleted.map((name) => ids[name]);
        expect(idsIn(found).filter((id) => deletedIds.includes(id))).toEqual([]);
        if (parametersOf(operation).some(isDeleted)) return;
        const own = await send(world, operation, ids);
        expect(own.status).toBe(200);
        expect(idsIn(own).filter((id) => deletedIds.includes(id))).toEqual([]);
      },
    );

    it("other records cannot refer to it", async () => {
      const { client } = await newKey(world);
      const project = `/v1/projects/${ids["project_id"]}`;
      const other = `/v1/environments/${ids["other_environment_id"]}`;
      const attempts: Record<string, [string, Promise<Reply>][]> = {
        environment_id: [
          [
            "PUT",
            client.put(project, { name: "p", default_environment_id: ids["environment_id"] }),
          ],
          [
            "pool",
            client.post(`/v1/orgs/${world.id}/runner-pools`, {
              name: "p",
              environment_ids: [ids["environment_id"]],
            }),
          ],
        ],
        stack_id: [
          ["POST", client.post(`${other}/deployments`, { stack_ids: [ids["stack_id"]] })],
          [
            "POST",
            client.post(`/v1/environments/${ids["environment_id"]}/deployments`, {
              stack_ids: [ids["stack_id"]],
            }),
          ],
        ],
      };
      const replies = Object.entries(attempts)
        .filter(([name]) => isDeleted(name))
        .flatMap(([, each]) => each);
      for (const [, reply] of replies) expect((await reply).status).toBe(404);
    });

    it("its secrets are gone, and the next purge removes what is left", async () => {
      const root = operationNamed(operationId).path.match(/\{(\w+)\}$/)?.[1] ?? "";
      const table = root.replace(/_id$/, "s");
      const read = () =>
        env.DB.prepare(`select * from ${table} where id = ?`)
          .bind(ids[root] ?? "")
          .first();
      const tombstone = await read();
      expect(tombstone).toMatchObject({ organization_id: "1".repeat(22) });
      const secrets = ["url", "shown_url", "secret", "previous_secret"].map(
        (name) => tombstone?.[name],
      );
      expect(secrets.filter(Boolean)).toEqual([]);
      await new Instrumented().sweep();
      expect(await read()).toBeNull();
      if (isCrowded) {
        const left = await findLeft(world, ids);
        expect(left.filter((each) => LEFT[operationId]?.includes(each))).toEqual([]);
      }
      const { client } = await newKey(world);
      expect((await client.get(`/v1/deployments/${neighbors["deployment_id"]}`)).status).toBe(200);
    });
  },
);

describe("at once, a DELETE frees", () => {
  const usageOf = async (world: World) => {
    const { body } = await world.client.get(`/v1/orgs/${world.id}/usage`);
    return body.records;
  };

  it("the names and the usage of environments and stacks", async () => {
    const world = await newWorld();
    const ids = await newDeletable(world);
    const { client } = await newKey(world);
    const environments = `/v1/projects/${ids["project_id"]}/environments`;
    const before = await usageOf(world);
    const { body } = await client.post(environments, { name: "again" });
    const stack = await client.post(`/v1/environments/${body.id}/stacks`, { name: "Ü stack" });
    expect((await client.delete(`/v1/stacks/${stack.body.id}`)).status).toBe(204);
    const again = await client.post(`/v1/environments/${body.id}/stacks`, { name: "Ü stack" });
    expect(again.status).toBe(201);
    expect((await client.delete(`/v1/environments/${body.id}`)).status).toBe(204);
    expect(await usageOf(world)).toEqual(before);
    expect((await client.post(environments, { name: "again" })).status).toBe(201);
  });

  it("the usage of a project, but not yet the bytes of its deployments", async () => {
    const world = await newWorld();
    const empty = await usageOf(world);
    const ids = await newDeletable(world);
    const full = await usageOf(world);
    expect(full.projects.used).toBe(1);
    const { client } = await newKey(world);
    expect((await client.delete(`/v1/projects/${ids["project_id"]}`)).status).toBe(204);
    const kinds = ["projects", "environments", "components", "stacks", "variables", "integrations"];
    const of = (usage: Parsed) => kinds.map((kind) => usage[kind]);
    const deleted = await usageOf(world);
    expect(of(deleted)).toEqual(of(empty));
    expect(deleted.deployments).toEqual(full.deployments);
    await new Instrumented().sweep();
    expect((await usageOf(world)).deployments).toEqual({ used: 0, bytes: 0 });
  });

  it("the place of an integration", async () => {
    const world = await newWorld();
    const project = await world.client.post("/v1/projects", { name: "p" });
    const { id } = project.body;
    const first = await newIntegration(world.client, id);
    for (let count = 1; count < 20; count += 1) await newIntegration(world.client, id);
    await expect(newIntegration(world.client, id)).rejects.toThrow("the most");
    await world.client.delete(`/v1/projects/${id}/notification-integrations/${first.id}`);
    await newIntegration(world.client, id);
    await expect(newIntegration(world.client, id)).rejects.toThrow("the most");
  });
});

describe("after a DELETE", () => {
  it("a deployment of all stacks leaves out the deleted ones", async () => {
    const { world, ids } = await newFixture();
    const { client } = await newKey(world);
    await client.delete(`/v1/stacks/${ids["stack_id"]}`);
    const { stack_ids: included } = await newDeployment(client, String(ids["environment_id"]));
    expect(included).toHaveLength(1);
    expect(included).not.toContain(ids["stack_id"]);
    const path = `/v1/deployments/${ids["deployment_id"]}/redeploy`;
    const redeployed = await client.post(path, {});
    expect(redeployed.body.stack_ids).toEqual(included);
  });

  it("pending deliveries are never sent", async () => {
    const { world, ids } = await newFixture();
    const deliveryId = await newDelivery(String(ids["integration_id"]), { status: "pending" });
    const { client } = await newKey(world);
    const integrations = `/v1/projects/${ids["project_id"]}/notification-integrations`;
    await client.delete(`${integrations}/${ids["integration_id"]}`);
    const isPurged = async () => {
      const row = env.DB.prepare("select id from deliveries where id = ?").bind(deliveryId);
      return (await row.first()) === null;
    };
    expect(await isPurged()).toBe(false);
    const requested: string[] = [];
    const isolate = new Instrumented({
      network: async (url) => {
        requested.push(String(url));
        return new Response();
      },
    });
    await isolate.sweep();
    expect(await isPurged()).toBe(true);
    expect(requested).toEqual([]);
  });

  it.each([
    ["environments", "project_id", "projects"],
    ["stacks", "environment_id", "environments"],
  ])("%s cannot be added to it, not even in a race", async (table, key, owners) => {
    const { world, ids } = await newFixture();
    const { client } = await newKey(world);
    expect((await client.delete(`/v1/${owners}/${ids[key]}`)).status).toBe(204);
    const columns = "id, organization_id, name, created_at, updated_at";
    const insert =
      table === "environments"
        ? `insert into environments (${columns}, project_id, configuration)
            values (?1, ?2, 'late', 1, 1, ?3, '{}')`
        : `insert into stacks (${columns}, environment_id, project_id)
            values (?1, ?2, 'late', 1, 1, ?3, ?4)`;
    const values = [newId(systemClock), world.id, ids[key] ?? "", ids["project_id"] ?? ""];
    const bound = env.DB.prepare(insert).bind(...values.slice(0, table === "stacks" ? 4 : 3));
    await expect(bound.run()).rejects.toThrow("FOREIGN KEY constraint failed");
  });
});

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { exampleBody, type Operation } from "../../support/contract.ts";
import { pathWith, uniqueName } from "../../support/created.ts";
import { Instrumented } from "../../support/instruments.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { withApiKey } from "../../support/operation-requests.ts";
import { type Ids, newWorldWithIds } from "../../support/operations.ts";
import { type Random, seededRandom } from "../../support/random.ts";
import { Attempt } from "../../support/runner.ts";
import { storedBytes } from "../../support/stored-bytes.ts";
import {
  newDeployableProject,
  newDeployment,
  newKey,
  newPool,
  newProject,
  newStack,
  newWorld,
  type World,
} from "../../support/world.ts";

async function countedBytes({ client, id }: Pick<World, "client" | "id">): Promise<number> {
  const { body } = await client.get(`/v1/orgs/${id}/usage`);
  const { audit_log, idempotency_records } = body.history.by_kind;
  return body.bytes.used + body.history.used + audit_log + idempotency_records;
}

/** These would end the history. */
const LAST = ["deleteAccount", "deleteOrganization", "createOrganization"];
const writes = withApiKey.filter(
  ({ method, operationId }) => method !== "GET" && !LAST.includes(operationId),
);

function bodyOf(operation: Operation, ids: Ids, environmentId: string) {
  const body = exampleBody(operation);
  const replaced = {
    name: uniqueName(body?.["name"]),
    environment_ids: [environmentId],
    environment_id: environmentId,
    default_environment_id: environmentId,
    member_ids: [ids["member_id"]],
    membership_id: ids["membership_id"],
    email: `${crypto.randomUUID()}@example.com`,
    stack_ids: undefined,
    component_id: undefined,
    patch: [],
  };
  const fields = Object.entries(replaced).filter(([name]) => body && name in body);
  return body && { ...body, ...Object.fromEntries(fields) };
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const keyed = items.map((item) => ({ item, key: random.below(1_000_000) }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}

const resource = (name: string, random: Random) => ({
  template_id: name,
  physical_id: `arn:${"x".repeat(random.below(200))}`,
  resource_type: "AWS::S3::Bucket",
  status: random.chance(0.2) ? "DELETE_COMPLETE" : "CREATE_COMPLETE",
  ...(random.chance(0.5) && { status_reason: "ü".repeat(random.below(100)) }),
});

/** Deployments with outputs, resources and reasons; some are not executed. */
async function deploy(world: World, random: Random): Promise<void> {
  const project = await newProject(world.client);
  const environmentId = project.default_environment_id;
  const pool = await newPool(world, [environmentId]);
  for (const name of ["one", "other"]) await newStack(world.client, environmentId, name);
  for (let at = random.below(4) + 1; at > 0; at -= 1) {
    const patch = [{ op: "add", path: `/at-${at}`, value: "ü".repeat(random.below(500)) }];
    await newDeployment(world.client, environmentId, { patch, reason: "Why" });
    if (random.chance(0.3)) continue;
    const attempt = await Attempt.started(pool.runner);
    for (const [seq, id] of attempt.claimed.deployment.stack_ids.entries()) {
      const names = Array.from({ length: random.below(40) }, (_, each) => `r-${each}-${at}`);
      await attempt.report(id, {
        seq: seq + 1,
        status: random.chance(0.8) ? "succeeded" : "failed",
        status_reason: "é".repeat(random.below(300)),
        resources: names.map((each) => resource(each, random)),
        outputs: [{ name: "url", value: "https://one.example.com" }],
      });
    }
    await attempt.complete(random.chance(0.5) ? "succeeded" : "failed", {
      message: "m".repeat(random.below(500)),
    });
  }
}

describe("a bulk write of 200 variables", () => {
  it("stores at most twice of what it sends, as history, and nothing if nothing differs", async () => {
    const world = await newWorld();
    const { default_environment_id } = await newProject(world.client);
    const bodyWith = (value: string) => ({
      mode: "merge",
      variables: Array.from({ length: 200 }, (_, at) => ({
        name: `${"N".repeat(200)}_${at}`,
        storage_method: "string",
        value,
      })),
    });
    const growthOf = async (value: string) => {
      const before = await storedBytes(world.id);
      const path = `/v1/environments/${default_environment_id}/variables`;
      const headers = { "user-agent": "u".repeat(400) };
      const { status } = await world.client.request("PUT", path, bodyWith(value), headers);
      expect(status).toBe(200);
      return (await storedBytes(world.id)) - before;
    };
    await growthOf("0");
    const sent = JSON.stringify(bodyWith("1")).length;
    for (const value of ["1", "2"]) expect(await growthOf(value)).toBeLessThan(2 * sent);
    expect(await growthOf("2")).toBe(0);
  });
});

describe("a deployment of 500 stacks", () => {
  it("counts what it stores, although its request has two bytes, and is refused beyond the quota", async () => {
    const world = await newWorld();
    const { environmentId } = await newDeployableProject(world);
    const stackId = await newStack(world.client, environmentId, "first");
    const names = { name: "item.value" };
    const stacks = LIMITS.stacksOfEnvironment.value;
    await copyRow(world.id, "stacks", stackId, newIdsOf(stacks - 1), names);
    const path = `/v1/environments/${environmentId}/deployments`;
    const live = async () => (await world.client.get(`/v1/orgs/${world.id}/usage`)).body.bytes.used;
    const before = { counted: await live(), stored: await storedBytes(world.id) };
    for (let created = 0; created < 3; created += 1) {
      expect((await world.client.post(path, {})).status).toBe(201);
    }
    const counted = (await live()) - before.counted;
    const stored = (await storedBytes(world.id)) - before.stored;
    expect(stored).toBeGreaterThan(3 * 100 * stacks);
    expect(counted / stored, `${counted} of ${stored}`).toBeGreaterThan(0.9);
    // A stack counts as much as one that has ended, whose row is longer.
    expect(counted / stored, `${counted} of ${stored}`).toBeLessThan(1.15);
    await env.DB.prepare("insert into quotas values (?, 'stored_bytes', ?)")
      .bind(world.id, await live())
      .run();
    const refused = await world.client.post(path, {});
    expect([refused.status, refused.body.code]).toEqual([409, "conflict"]);
    expect(refused.body.message).toContain("bytes");
  });
});

describe("the usage", () => {
  it.each([1, 2, 3])("has all bytes that an organization stores, within 3 % (%i)", async (seed) => {
    const random = seededRandom(seed);
    const { world, ids } = await newWorldWithIds();
    const { default_environment_id } = await newProject(world.client);
    // The requests of the other key are limited.
    const reader = { ...(await newKey(world)), id: world.id };
    const worker = new Instrumented();
    const client = world.client.via(worker.fetch);
    const statuses: number[] = [];
    const steps = shuffled(writes, random).slice(0, 30 + random.below(writes.length - 30));
    for (const [at, operation] of steps.entries()) {
      if (at % 20 === 0) await deploy(world, random);
      const headers = random.chance(0.3) ? { "idempotency-key": crypto.randomUUID() } : {};
      const { status } = await client.request(
        operation.method,
        pathWith(operation, ids),
        bodyOf(operation, ids, default_environment_id),
        headers,
      );
      statuses.push(status);
    }
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(10);
    await worker.sweep();
    const [stored, counted] = [await storedBytes(world.id), await countedBytes(reader)];
    expect(stored).toBeGreaterThan(50_000);
    expect(Math.abs(counted / stored - 1), `${counted} of ${stored}`).toBeLessThan(0.03);
  });
});

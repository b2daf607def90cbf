import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Client, Parsed } from "../support/client.ts";
import { type Operation, operations, resolve } from "../support/contract.ts";
import { newIds, pathWith } from "../support/operations.ts";
import { newFreeze, protect } from "../support/protection.ts";
import { Attempt } from "../support/runner.ts";
import {
  newDeployment,
  newKey,
  newPool,
  newStack,
  newWorld,
  type World,
} from "../support/world.ts";

const withKey = operations.filter(({ security }) => security.some((each) => "api_key" in each));

/** Whether the schema of a response has a `waiting_for`, at any depth. */
function showsWaiting({ responses }: Operation): boolean {
  const seen = new Set<unknown>();
  const search = (node: unknown): boolean => {
    if (typeof node !== "object" || node === null || seen.has(node)) return false;
    seen.add(node);
    if ("waiting_for" in node) return true;
    if ("$ref" in node) return search(resolve({ $ref: node.$ref }));
    return Object.values(node).some(search);
  };
  return Object.entries(responses).some(([status, reply]) => status < "300" && search(reply));
}

const showing = withKey.filter(showsWaiting);
const reads = withKey.filter(({ method }) => method === "GET");

/** They are of the project, and name what has changed in it. Source: docs/api-keys.md, "Projects and environments". */
const OF_PROJECT = ["listChangelog", "listEvents", "getDelivery", "listDeliveries"];

/** Bodies of the writes that show a `waiting_for`: `done` has succeeded in another environment of the key. */
const BODIES: Record<string, (fixture: Fixture) => object | undefined> = {
  createDeployment: () => ({ patch: [] }),
  previewDeployment: () => ({ patch: [] }),
  redeployDeployment: () => undefined,
  promoteDeployment: ({ ids }) => ({ environment_id: ids["environment_id"] }),
  overrideDeployment: () => ({ conditions: ["freeze"], reason: "An incident" }),
  cancelDeployment: () => undefined,
};
const OF_ENDED = [
  "redeployDeployment",
  "previewRedeployment",
  "promoteDeployment",
  "previewPromotion",
];

interface Fixture {
  world: World;
  ids: Record<string, string>;
  /** A deployment that has succeeded. */
  doneId: string;
  narrowed: Client;
  /** What lies outside of the boundaries of the key. */
  secrets: { names: string[]; ids: string[] };
}

async function newFixture(): Promise<Fixture> {
  const world = await newWorld();
  const ids = await newIds(world);
  const environmentId = String(ids["environment_id"]);
  const environments = `/v1/projects/${ids["project_id"]}/environments`;
  const canary = () => `canary-${crypto.randomUUID()}`;
  const add = async () => {
    const { body } = await world.client.post(environments, { name: canary() });
    await newStack(world.client, body.id);
    return body as Parsed;
  };
  const [staging, sister, deleted] = [await add(), await add(), await add()];
  const done = await newDeployment(world.client, environmentId);
  await env.DB.prepare("update deployments set status = 'succeeded' where id = ?")
    .bind(done.id)
    .run();
  const { runner } = await newPool(world, [sister.id]);
  const running = await newDeployment(world.client, sister.id);
  await Attempt.started(runner);
  await protect(world.client, sister.id, { group: "shared" });
  await protect(world.client, environmentId, {
    group: "shared",
    from: { environment_ids: [staging.id, deleted.id] },
  });
  await world.client.delete(`/v1/environments/${deleted.id}`);
  const freeze = { starts_at: new Date(Date.now() - 60_000).toISOString() };
  const shared = await world.client.post(
    `/v1/projects/${ids["project_id"]}/freezes`,
    newFreeze({ ...freeze, environment_ids: [environmentId, staging.id] }),
  );
  const other = await world.client.post(
    `/v1/projects/${ids["project_id"]}/freezes`,
    newFreeze({ ...freeze, name: canary(), environment_ids: [staging.id] }),
  );
  const everywhere = await world.client.post(
    `/v1/orgs/${world.id}/freezes`,
    newFreeze({ ...freeze, name: canary(), reason: "the board meets" }),
  );
  const queued = await newDeployment(world.client, environmentId);
  const { client: narrowed } = await newKey(world, {
    projectIds: [String(ids["project_id"])],
    environmentIds: [environmentId],
  });
  return {
    world,
    ids: { ...ids, deployment_id: queued.id, freeze_id: shared.body.id },
    doneId: done.id,
    narrowed,
    secrets: {
      names: [staging, sister, deleted, other.body, everywhere.body].map(({ name }) => name),
      ids: [staging.id, sister.id, deleted.id, running.id, other.body.id, everywhere.body.id],
    },
  };
}

const pathOf = (operation: Operation, { ids, doneId }: Fixture) =>
  pathWith(operation, {
    ...ids,
    ...(OF_ENDED.includes(operation.operationId) && { deployment_id: doneId }),
  });

it("a key that is narrowed to an environment learns no name and no ID of what lies outside", async () => {
  const fixture = await newFixture();
  const { narrowed, secrets } = fixture;
  const writes = showing.filter(({ method }) => method !== "GET");
  expect(writes.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(BODIES).toSorted(),
  );
  const refused: string[] = [];
  // A new deployment supersedes the one that is canceled.
  const isFirst = ({ operationId }: Operation) => operationId === "cancelDeployment";
  const ordered = [...writes.filter(isFirst), ...writes.filter((each) => !isFirst(each))];
  for (const operation of [...reads, ...ordered]) {
    const { operationId, method } = operation;
    if (OF_PROJECT.includes(operationId)) continue;
    const body = BODIES[operationId]?.(fixture);
    const { status, text } = await narrowed.request(method, pathOf(operation, fixture), body);
    if (status >= 300) refused.push(operationId);
    for (const secret of [...secrets.names, ...secrets.ids]) {
      expect(text, operationId).not.toContain(secret);
    }
  }
  const isRefused = showing.filter(({ operationId }) => refused.includes(operationId));
  // It needs a person's full credential.
  expect(isRefused.map(({ operationId }) => operationId)).toEqual(["overrideDeployment"]);
});

const CASES = [
  {
    credential: "a narrowed key",
    isNarrowed: true,
    from: () =>
      "Starts once a deployment of the same configuration has succeeded in another environment.",
    group: () =>
      'Starts after a deployment of another environment of its group "shared" has ended.',
    freeze: () => "by a freeze of the organization.",
  },
  {
    credential: "a key that is not narrowed",
    isNarrowed: false,
    from: ({ secrets: { names } }: Fixture) =>
      `has succeeded in "${names[0]}" or an environment that no longer exists.`,
    group: ({ secrets: { ids } }: Fixture) =>
      `Starts after the deployment ${ids[3]} of its group "shared" has ended.`,
    freeze: ({ secrets: { names } }: Fixture) => `by "${names[4]}": the board meets`,
  },
];

it.each(CASES)(
  "$credential reads what a deployment waits for",
  async ({ isNarrowed, ...texts }) => {
    const fixture = await newFixture();
    const { world, ids, narrowed, secrets } = fixture;
    const client = isNarrowed ? narrowed : world.client;
    const { body } = await client.get(`/v1/deployments/${ids["deployment_id"]}`);
    const waiting: Parsed[] = body.waiting_for;
    const messages = waiting.map(({ code, message }) => `${code}: ${message}`).join("\n");
    for (const code of ["from", "group", "freeze"] as const) {
      expect(messages).toContain(texts[code](fixture));
    }
    const group = waiting.find(({ code }) => code === "group");
    expect(group?.["deployment_id"]).toBe(isNarrowed ? undefined : secrets.ids[3]);
  },
);

it("a freeze and a rule show the environments within the boundaries of the key", async () => {
  const { world, ids, narrowed, secrets } = await newFixture();
  const [stagingId, , deletedId] = secrets.ids;
  const own = ids["environment_id"];
  const freeze = `/v1/freezes/${ids["freeze_id"]}`;
  expect((await narrowed.get(freeze)).body.environment_ids).toEqual([own]);
  expect((await world.client.get(freeze)).body.environment_ids).toEqual([own, stagingId]);
  const other = `/v1/freezes/${secrets.ids[4]}`;
  expect((await narrowed.get(other)).status).toBe(404);
  expect((await world.client.get(other)).status).toBe(200);
  const listed = async (client: Client) => {
    const { body } = await client.get(`/v1/projects/${ids["project_id"]}/freezes`);
    return body.data.map(({ id }: Parsed) => id);
  };
  expect(await listed(narrowed)).not.toContain(secrets.ids[4]);
  expect(await listed(world.client)).toContain(secrets.ids[4]);
  const rules = `/v1/environments/${own}/protection`;
  expect((await narrowed.get(rules)).body.from.environment_ids).toEqual([]);
  expect((await world.client.get(rules)).body.from.environment_ids).toEqual([stagingId, deletedId]);
});

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Reply } from "../../support/client.ts";
import { beforeBatch, Instrumented } from "../../support/instruments.ts";
import { Attempt } from "../../support/runner.ts";
import {
  newDeployableProject,
  newDeployment,
  newInside,
  newWorld,
  type Pool,
  type World,
} from "../../support/world.ts";

let world: World;
let client: Client;
let environmentId: string;
let stackIds: string[];
let pool: Pool;

beforeEach(async () => {
  world = await newWorld();
  client = world.client;
  ({ environmentId, pool } = await newDeployableProject(world));
  const inside = [await newInside(client, environmentId).then(({ stack_id }) => String(stack_id))];
  for (const name of ["web é", "jobs"]) {
    inside.push((await client.post(`/v1/environments/${environmentId}/stacks`, { name })).body.id);
  }
  stackIds = inside.toReversed();
});

const deployments = () => `/v1/environments/${environmentId}/deployments`;
const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
  client.request(method, path, body, headers);
const withKey = (key: string) => ({ "idempotency-key": key });
const tagOf = (reply: Reply) => String(reply.headers.get("etag"));
const countOf = async () => (await client.get(deployments())).body.data.length;

async function runToSuccess(): Promise<void> {
  const attempt = await Attempt.started(pool.runner);
  for (const id of attempt.claimed.deployment.stack_ids) {
    for (const [at, status] of ["in_progress", "succeeded"].entries()) {
      await attempt.report(id, { status, seq: at + 1 });
    }
  }
  expect((await attempt.succeed()).status).toBe(200);
}

function expectRepeat(repeated: Reply, first: Reply): void {
  expect(repeated.status).toBe(first.status);
  expect(repeated.text).toBe(first.text);
  for (const name of ["etag", "location"]) {
    expect(repeated.headers.get(name)).toBe(first.headers.get(name));
  }
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
}

describe("a repeated creation of a deployment", () => {
  const body = () => ({
    stack_ids: stackIds,
    patch: [{ op: "add", path: "/größe", value: { 'a"b': [1.5, true, null, "\u2028"] } }],
    source: { registry: { image: "shop:1", command: ["run", "--x"] } },
    reason: "Größe 1",
  });

  it("gets the first response, with its stacks, after the deployment has ended", async () => {
    const first = await send("POST", deployments(), body(), withKey("key-1"));
    expect(first.status).toBe(201);
    expect(first.body.stack_ids).toEqual(stackIds);
    const path = `/v1/deployments/${first.body.id}`;
    expect(first.headers.get("location")).toBe(path);
    expect(tagOf(await client.get(path))).toBe(tagOf(first));
    expect(tagOf(await client.get(`${deployments()}/${first.body.id}`))).toBe(tagOf(first));
    expectRepeat(await send("POST", deployments(), body(), withKey("key-1")), first);
    await runToSuccess();
    await client.delete(`/v1/stacks/${stackIds[1]}`);
    expectRepeat(await send("POST", deployments(), body(), withKey("key-1")), first);
    expect((await client.get(path)).body.status).toBe("succeeded");
    expect(await countOf()).toBe(1);
  });
});

describe("a cancellation", () => {
  const cancel = (id: string, headers: Record<string, string> = {}) =>
    send("PATCH", `/v1/deployments/${id}/cancel`, undefined, headers);

  it("of a running deployment is repeated as `canceling` after the runner has ended it", async () => {
    const { id } = await newDeployment(client, environmentId, { stack_ids: stackIds });
    const attempt = await Attempt.started(pool.runner);
    const first = await cancel(id, withKey("key-1"));
    expect(first.body.status).toBe("canceling");
    const again = await cancel(id, withKey("key-2"));
    expect(again.text).toBe(first.text);
    await attempt.complete("canceled");
    expect((await client.get(`/v1/deployments/${id}`)).body.status).toBe("canceled");
    expectRepeat(await cancel(id, withKey("key-1")), first);
    expectRepeat(await cancel(id, withKey("key-2")), again);
  });

  it("by the tag of an earlier read succeeds, whatever the runner has reported since", async () => {
    const { id } = await newDeployment(client, environmentId, { stack_ids: stackIds });
    const queued = await client.get(`/v1/deployments/${id}`);
    const attempt = await Attempt.started(pool.runner);
    await attempt.report(String(stackIds[0]), { status: "in_progress", seq: 1 });
    const running = await client.get(`/v1/deployments/${id}`);
    expect(tagOf(running)).not.toBe(tagOf(queued));
    const canceled = await cancel(id, { "if-match": tagOf(queued) });
    expect(canceled.body.status).toBe("canceling");
    const stale = await cancel(id, { "if-match": tagOf(running) });
    expect(stale).toMatchObject({ status: 409, body: { cause: { etag: tagOf(canceled) } } });
    expect((await cancel(id, { "if-match": tagOf(canceled) })).status).toBe(200);
  });

  it("is a conflict with the current tag once a newer deployment supersedes it", async () => {
    const { id } = await newDeployment(client, environmentId);
    const path = `/v1/deployments/${id}`;
    const tag = tagOf(await client.get(path));
    const database = beforeBatch(1, () => newDeployment(client, environmentId));
    const racing = client.via(new Instrumented({ database }).fetch);
    const refused = await racing.request("PATCH", `${path}/cancel`, undefined, { "if-match": tag });
    const current = await client.get(path);
    expect(current.body.status).toBe("superseded");
    expect(refused).toMatchObject({ status: 409, body: { cause: { etag: tagOf(current) } } });
  });

  it("is a success if another cancellation comes between its read and its write", async () => {
    const { id } = await newDeployment(client, environmentId);
    const path = `/v1/deployments/${id}`;
    const tag = tagOf(await client.get(path));
    const database = beforeBatch(2, () => cancel(id));
    const racing = client.via(new Instrumented({ database }).fetch);
    const headers = { "if-match": tag, ...withKey("key-1") };
    const second = await racing.request("PATCH", `${path}/cancel`, undefined, headers);
    expect(second).toMatchObject({ status: 200, body: { status: "canceled" } });
    expectRepeat(await cancel(id, headers), second);
  });
});

describe("an environment after a deployment", () => {
  it("has another version if its configuration changed, so that no write undoes the change unseen", async () => {
    const path = `/v1/environments/${environmentId}`;
    const before = await client.get(path);
    await newDeployment(client, environmentId, {
      patch: [{ op: "add", path: "/replicas", value: 3 }],
    });
    const queued = await client.get(path);
    expect(tagOf(queued)).toBe(tagOf(before));
    await runToSuccess();
    const replacement = { name: "production", configuration: { features: [] } };
    const refused = await send("PUT", path, replacement, { "if-match": tagOf(before) });
    const current = await client.get(path);
    expect(refused).toMatchObject({ status: 409, body: { cause: { etag: tagOf(current) } } });
    expect(current.body.configuration).toEqual({ replicas: 3 });
  });

  it("keeps its version if the deployment left the configuration as it was", async () => {
    const path = `/v1/environments/${environmentId}`;
    const before = await client.get(path);
    await newDeployment(client, environmentId, { patch: [] });
    await runToSuccess();
    const versionOf = (reply: Reply) => tagOf(reply).split(".")[0];
    expect(versionOf(await client.get(path))).toBe(versionOf(before));
    const replacement = { name: "production", configuration: { features: [] } };
    const replaced = await send("PUT", path, replacement, { "if-match": tagOf(before) });
    expect(replaced.status).toBe(200);
    expect(versionOf(replaced)).not.toBe(versionOf(before));
  });
});

describe("the record of a deployment", () => {
  it("is not much larger than the request, also if that consists of quotes", async () => {
    const value = '"'.repeat(100_000);
    const body = { patch: [{ op: "add", path: "/quotes", value }] };
    const first = await send("POST", deployments(), body, withKey("key-1"));
    expect(first.status).toBe(201);
    const record = await env.DB.prepare(
      "select octet_length(result) as bytes from idempotency_records where organization_id = ?",
    )
      .bind(world.id)
      .first<{ bytes: number }>();
    expect(record?.bytes).toBeLessThan(JSON.stringify(body).length + 2_000);
    expectRepeat(await send("POST", deployments(), body, withKey("key-1")), first);
  });
});

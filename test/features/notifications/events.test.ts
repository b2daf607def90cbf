import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import {
  EVENT_TYPES,
  type EventType,
  NOTIFICATION_KINDS,
} from "../../../src/features/housekeeping/outbox/events.ts";
import { PAYLOADS } from "../../../src/features/notifications/events/event-payloads.ts";
import { canonicalId } from "../../../src/lib/ids.ts";
import type { Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import { insertDeliveries, insertIntegration } from "../../support/delivery-rows.ts";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { approve, newFreeze, protect, reject } from "../../support/protection.ts";
import { Attempt } from "../../support/runner.ts";
import {
  connect,
  newDeployment,
  newInside,
  newPool,
  newProject,
  newStack,
  newWorld,
} from "../../support/world.ts";

it("writes the events of a deployment once for each integration that subscribes to them", async () => {
  const world = await newWorld();
  const project = await newProject(world.client);
  const environmentId = project.default_environment_id;
  await connect(world.client, project.id);
  const { stack_id } = await newInside(world.client, environmentId);
  const kinds = ["deployments_in_progress", "deployments_failed", "deployments_succeeded"];
  const { id: all } = await newIntegration(world.client, project.id, kinds);
  const { id: some } = await newIntegration(world.client, project.id, ["deployments_failed"]);
  const pool = await newPool(world, [environmentId]);

  const { id } = await newDeployment(world.client, environmentId, { reason: "More traffic" });
  expect(await listDeliveries(project.id)).toEqual([]);
  const attempt = await Attempt.started(pool.runner);
  await attempt.complete("failed", { failure_reason: "tests_failed" });

  const [begun, ...ends] = await listDeliveries(project.id);
  expect(begun).toMatchObject({ integration_id: all, type: "deployments.in_progress" });
  expect(ends.map(({ integration_id }) => integration_id)).toEqual([all, some].toSorted());
  expect(ends.map(({ type }) => type)).toEqual(["deployments.failed", "deployments.failed"]);
  expect(ends[0]?.event_id).toBe(ends[1]?.event_id);
  const ids = [begun, ...ends].flatMap((row) => [row?.id, row?.event_id]);
  expect(ids.map((each) => canonicalId(String(each)))).toEqual(ids);
  expect(begun?.data).toEqual({
    deployment_id: id,
    status: "in_progress",
    created_by: { type: "person", membership_id: world.membershipId },
    reason: "More traffic",
    trigger: "api",
    queued_seconds: expect.any(Number),
    project: { id: project.id, name: "storefront" },
    environment: { id: environmentId, name: "production" },
    stacks: [{ id: stack_id, name: expect.any(String), status: "pending" }],
  });
  expect(ends[0]?.data).toMatchObject({
    status: "failed",
    failure_reason: "tests_failed",
    reason: "More traffic",
    run_seconds: expect.any(Number),
    stacks: [{ status: "skipped" }],
  });
});

it("limits the data of a deployment to 20 KB, however long its names and however many its stacks", async () => {
  const world = await newWorld();
  const project = await newProject(world.client, { name: "界".repeat(100) });
  const environmentId = project.default_environment_id;
  await connect(world.client, project.id);
  for (let at = 10; at < 40; at += 1) {
    const name = `${at}${"界".repeat(126)}`;
    await world.client.post(`/v1/environments/${environmentId}/stacks`, { name });
  }
  await newIntegration(world.client, project.id, ["deployments_failed"]);
  const pool = await newPool(world, [environmentId]);
  await newDeployment(world.client, environmentId, { reason: "界".repeat(500) });
  const attempt = await Attempt.started(pool.runner);
  await attempt.complete("failed", { failure_reason: "界".repeat(200) });

  const [failed] = await listDeliveries(project.id);
  const { data } = failed ?? {};
  expect((data as Parsed).stacks).toHaveLength(25);
  expect((data as Parsed)["reason"]).toBe("界".repeat(300));
  expect(new TextEncoder().encode(JSON.stringify(data)).length).toBeLessThan(19_000);
});

it("has the outputs of a success, the URLs first, and no more than 8 KiB of them", async () => {
  const world = await newWorld();
  const project = await newProject(world.client);
  const environmentId = project.default_environment_id;
  await connect(world.client, project.id);
  const stacks = `/v1/environments/${environmentId}/stacks`;
  const idOf = async (name: string) => (await world.client.post(stacks, { name })).body.id ?? "";
  const [first, second, third] = [await idOf("one"), await idOf("two"), await idOf("three")];
  await newIntegration(world.client, project.id, [
    "deployments_in_progress",
    "deployments_succeeded",
  ]);
  const pool = await newPool(world, [environmentId]);
  const outputsOf = async (reports: readonly (readonly [string, Record<string, string>])[]) => {
    await clearOutbox();
    await newDeployment(world.client, environmentId);
    const attempt = await Attempt.started(pool.runner);
    for (const [id, values] of reports) {
      const outputs = Object.entries(values).map(([name, value]) => ({ name, value }));
      await attempt.report(id, { seq: 1, status: "succeeded", outputs });
    }
    await attempt.complete("succeeded");
    const [begun, succeeded] = await listDeliveries(project.id);
    expect(begun?.data).not.toHaveProperty("outputs");
    const { data } = succeeded ?? {};
    return (data as Parsed).outputs;
  };
  const output = (stack_id: string, name: string, value: string) => ({ stack_id, name, value });
  const [a, b] = ["https://a.example.com/?x&y", "https://b.example.com"];
  expect(
    await outputsOf([
      [first, { bucket: '"\\', a: "1" }],
      [second, { zone: "x", url: b }],
      [third, { url: a }],
    ]),
  ).toEqual([
    ...[output(second, "url", b), output(third, "url", a)],
    ...[output(first, "a", "1"), output(first, "bucket", '"\\'), output(second, "zone", "x")],
  ]);
  const long = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, '"'.repeat(2_000)]));
  const cut = await outputsOf([
    [first, long],
    [second, { url: b }],
    [third, {}],
  ]);
  expect(cut).toMatchObject([{ name: "url" }, { name: "a" }]);
  const exact = await outputsOf([
    [
      first,
      { a: "1".repeat(2_000), b: "2".repeat(2_000), c: "3".repeat(2_000), d: "4".repeat(2_000) },
    ],
    [second, {}],
    [third, {}],
  ]);
  expect(exact).toHaveLength(3);
  const rest = 8 * 1024 - new TextEncoder().encode(JSON.stringify(exact)).length;
  const own = JSON.stringify(output(first, "d", "")).length + 1;
  for (const [length, count] of [
    [rest - own, 4],
    [rest - own + 1, 3],
  ] as const) {
    const d = "4".repeat(length);
    const fitting = { a: "1".repeat(2_000), b: "2".repeat(2_000), c: "3".repeat(2_000), d };
    const listed = await outputsOf([
      [first, fitting],
      [second, {}],
      [third, {}],
    ]);
    expect(listed).toHaveLength(count);
  }
  expect(
    await outputsOf([
      [first, {}],
      [second, {}],
      [third, {}],
    ]),
  ).toBeUndefined();
});

it("writes nothing for an integration that is disabled", async () => {
  const { client } = await newWorld();
  const project = await newProject(client);
  const { id: enabled } = await newIntegration(client, project.id, ["changelog"]);
  const { id: disabled } = await newIntegration(client, project.id, ["changelog"]);
  await env.DB.prepare("update integrations set disabled_at = 1 where id = ?").bind(disabled).run();
  await clearOutbox();
  await client.post(`/v1/projects/${project.id}/environments`, { name: "staging" });
  expect(await listDeliveries(project.id)).toMatchObject([{ integration_id: enabled }]);
});

/** Parsing drops fields that the schema lacks, and throws where one of its fields is missing. */
function expectToMatchSchema(type: string, data: unknown): void {
  expect(PAYLOADS[type as EventType].data.parse(data), type).toEqual(data);
}

describe("the data of an event", () => {
  it("has exactly the fields of its schema, whichever SQL wrote it", async () => {
    const world = await newWorld();
    const { client } = world;
    const project = await newProject(client);
    const environmentId = project.default_environment_id;
    await connect(client, project.id);
    const { stack_id: stackId = "" } = await newInside(client, environmentId);
    const pool = await newPool(world, [environmentId]);
    const { body: staging } = await client.post(`/v1/projects/${project.id}/environments`, {
      name: "staging",
    });
    await newStack(client, staging.id);
    const integration = await newIntegration(client, project.id, NOTIFICATION_KINDS);

    const deployment = await newDeployment(client, environmentId);
    const succeeding = await Attempt.started(pool.runner);
    const outputs = [{ name: "url", value: "https://shop.example.com" }];
    await succeeding.report(stackId, { seq: 1, status: "succeeded", outputs });
    await succeeding.succeed();
    await newDeployment(client, environmentId);
    const failing = await Attempt.started(pool.runner);
    await failing.complete("failed", { failure_reason: "tests_failed" });
    const promotion = { environment_id: staging.id };
    await client.post(`/v1/deployments/${deployment.id}/promote`, promotion);
    const alarm = `/v1/stacks/${stackId}/alarms/latency`;
    await client.put(alarm, { state: "alarm", reason: "p99 over 2 s" });
    await client.put(alarm, { state: "ok" });
    const approvals = {
      approvals: { required: 2, approvers: { role: "owner" }, prevent_self_approval: false },
    };
    await protect(client, staging.id, approvals);
    const held = await newDeployment(client, staging.id);
    await approve(client, held.id, { comment: "Looks good" });
    const override = { reason: "The shop is down", conditions: ["approvals"] };
    await client.post(`/v1/deployments/${held.id}/override`, override);
    await reject(client, held.id);
    const { body: freeze } = await client.post(
      `/v1/projects/${project.id}/freezes`,
      newFreeze({ environment_ids: [staging.id] }),
    );
    await client.delete(`/v1/freezes/${freeze.id}`);
    const update = { name: "bookshop", default_environment_id: environmentId };
    expect((await client.put(`/v1/projects/${project.id}`, update)).status).toBe(200);
    const variables = ["B", "C"].map((name) => ({ name, storage_method: "string", value: "1" }));
    await client.put(`/v1/environments/${environmentId}/variables`, { mode: "merge", variables });
    await client.post(
      `/v1/projects/${project.id}/notification-integrations/${integration.id}/ping`,
      undefined,
    );

    const events = await listDeliveries(project.id);
    for (const { type, data } of events) expectToMatchSchema(type, data);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(EVENT_TYPES));
    const changes = events.filter(({ type }) => type === "changelog.created");
    const counts = new Set(changes.map(({ data }) => data.count));
    expect(counts).toEqual(new Set([1, 2]));
  });

  it("has exactly the fields of its schema if Longshore itself makes the change", async () => {
    const project = await newProject((await newWorld()).client);
    const harness = new DeliveryHarness(
      ({ url }) => new Response(null, { status: url.endsWith("/gone") ? 410 : 204 }),
    );
    // To the real queue, which the events of other tests wake, the delivery is not due.
    harness.now += 3_600_000;
    await insertIntegration(project);
    const gone = await insertIntegration(project, { url: "https://hooks.longshore.dev/gone" });
    harness.enqueue(await insertDeliveries(project, gone, harness.now));
    await harness.runUntil(harness.now);
    const disabled = (await listDeliveries(project.id)).filter(({ data }) => "action" in data);
    expect(disabled).toHaveLength(1);
    for (const { type, data } of disabled) {
      expect(data).toMatchObject({ action: "disabled" });
      expect(data).not.toHaveProperty("account_id");
      expectToMatchSchema(type, data);
    }
  });
});

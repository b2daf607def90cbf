import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { EVENT_TYPES } from "../../../src/features/housekeeping/outbox/events.ts";
import { DELIVERY_FAILURE_REASONS } from "../../../src/features/housekeeping/outbox/model.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { openApi, resolve, webhookViolations } from "../../support/contract.ts";
import { FAILED_DEPLOYMENT, newDelivery, newIntegration } from "../../support/integrations.ts";
import { newProject, newWorld, type World } from "../../support/world.ts";

let world: World;
let client: Client;
let project: Parsed;
let integration: Parsed;
let path: string;

beforeEach(async () => {
  world = await newWorld();
  client = world.client;
  project = await newProject(client);
  integration = await newIntegration(client, project.id);
  path = `/v1/projects/${project.id}/notification-integrations/${integration.id}`;
});

const rowOf = async (id: string) =>
  (await env.DB.prepare("select * from deliveries where id = ?").bind(id).first()) as Record<
    string,
    string | number | null
  >;

const disable = () =>
  env.DB.prepare("update integrations set disabled_at = 1, disabled_reason = 'gone' where id = ?")
    .bind(integration.id)
    .run();

/** A client of an app whose queue records what is enqueued. */
function withQueue(): { caller: Client; enqueued: string[]; fail(): void } {
  const enqueued: string[] = [];
  let isBroken = false;
  const app = createApp({ log: () => undefined });
  const sendBatch = async (messages: { body: { delivery_id: string } }[]) => {
    if (isBroken) throw new Error("The queue is down");
    enqueued.push(...messages.map(({ body }) => body.delivery_id));
  };
  const bindings = { ...env, DELIVERIES: { sendBatch } } as unknown as Env;
  const execution = {
    waitUntil() {},
    passThroughOnException() {},
  } as unknown as ExecutionContext;
  const fail = () => {
    isBroken = true;
  };
  return {
    caller: client.via((request) => app.fetch(request, bindings, execution)),
    enqueued,
    fail,
  };
}

describe("the deliveries of an integration", () => {
  it("are listed in pages, newest first, without payloads", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      ids.unshift(await newDelivery(integration.id, { createdAt: at }));
    }
    const { body: first } = await client.get(`${path}/deliveries?limit=3`);
    const { body: second } = await client.get(
      `${path}/deliveries?limit=3&after=${first.next_page}`,
    );
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect(first.data[0]).toEqual({
      id: ids[0],
      integration_id: integration.id,
      event_id: (await rowOf(String(ids[0])))["event_id"],
      type: "deployments.failed",
      status: "succeeded",
      attempt_count: 1,
      created_at: "1970-01-01T00:00:00.004Z",
      updated_at: "1970-01-01T00:00:00.004Z",
      finished_at: "1970-01-01T00:00:00.004Z",
    });
  });

  it("are filtered by one status or several", async () => {
    const made: Record<string, string> = {};
    for (const [at, status] of ["pending", "succeeded", "failed"].entries()) {
      made[status] = await newDelivery(integration.id, { status, createdAt: at });
    }
    const listed = async (query: string) =>
      (await client.get(`${path}/deliveries?${query}`)).body.data.map(({ id }: Parsed) => id);
    const { pending, succeeded, failed } = made;
    expect(await listed("status=pending")).toEqual([pending]);
    expect(await listed("status=failed,pending")).toEqual([failed, pending]);
    expect(await listed("status=succeeded&status=failed")).toEqual([failed, succeeded]);
    expect(await listed("status=pending,succeeded,failed")).toEqual([failed, succeeded, pending]);
    const wrong = await client.get(`${path}/deliveries?status=lost`);
    expect([wrong.status, wrong.body.cause.issues[0].path]).toEqual([400, "status.0"]);
  });

  it("have a time of the next attempt while they are pending", async () => {
    const id = await newDelivery(integration.id, { status: "pending", attempts: 2 });
    const { body } = await client.get(`${path}/deliveries/${id}`);
    expect(body).toMatchObject({
      status: "pending",
      attempt_count: 2,
      next_attempt_at: "1970-01-01T00:00:00.002Z",
    });
    expect(body).not.toHaveProperty("finished_at");
  });

  it("have a failure reason only if they failed without a last attempt", async () => {
    const id = await newDelivery(integration.id, { status: "failed", attempts: 0 });
    const own = await newDelivery(integration.id, { status: "failed", attempts: 8 });
    const set = env.DB.prepare("update deliveries set failure_reason = ?1 where id = ?2");
    for (const reason of DELIVERY_FAILURE_REASONS) {
      await set.bind(reason, id).run();
      const { body } = await client.get(`${path}/deliveries/${id}`);
      expect(body.failure_reason).toBe(reason);
    }
    const { body } = await client.get(`${path}/deliveries`);
    const reasons = new Map(body.data.map((each: Parsed) => [each.id, each.failure_reason]));
    expect(reasons).toEqual(
      new Map([
        [id, DELIVERY_FAILURE_REASONS.at(-1)],
        [own, undefined],
      ]),
    );
    // A redelivery is a new delivery, which has not failed.
    const again = await client.post(`${path}/deliveries/${id}/redeliver`, undefined);
    expect(again.body).not.toHaveProperty("failure_reason");
  });

  it("are read with the payload and every attempt", async () => {
    const id = await newDelivery(integration.id, { attempts: 2 });
    const insert = (number: number, ...rest: (string | number | null)[]) =>
      env.DB.prepare("insert into delivery_attempts values (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(id, number, world.id, ...rest)
        .run();
    await insert(2, 20, 30, 200, null, "ok");
    await insert(1, 10, 15_000, null, "timed out", null);
    const { body } = await client.get(`${path}/deliveries/${id}`);
    expect(body.payload).toEqual({
      id: body.event_id,
      type: "deployments.failed",
      timestamp: "1970-01-01T00:00:00.001Z",
      data: FAILED_DEPLOYMENT,
    });
    expect(body.attempts).toEqual([
      {
        number: 1,
        started_at: "1970-01-01T00:00:00.010Z",
        duration_ms: 15_000,
        error: "timed out",
      },
      {
        number: 2,
        started_at: "1970-01-01T00:00:00.020Z",
        duration_ms: 30,
        status_code: 200,
        response: "ok",
      },
    ]);
  });
});

describe("a redelivery", () => {
  it("is a new delivery of the same event, due at once and enqueued", async () => {
    const id = await newDelivery(integration.id, { status: "failed", attempts: 8 });
    const before = await rowOf(id);
    const { caller, enqueued } = withQueue();
    const { status, body } = await caller.post(`${path}/deliveries/${id}/redeliver`, undefined);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      event_id: before["event_id"],
      type: "deployments.failed",
      status: "pending",
      attempt_count: 0,
      next_attempt_at: body.created_at,
    });
    expect(body.id).not.toBe(id);
    expect(enqueued).toEqual([body.id]);
    expect(await rowOf(id)).toEqual(before);
    const { occurred_at, event_id, type } = before;
    expect(await rowOf(body.id)).toMatchObject({ occurred_at, event_id, type });
    const [sent, again] = await Promise.all(
      [id, body.id].map((each) => client.get(`${path}/deliveries/${each}`)),
    );
    expect(again?.body.payload).toEqual(sent?.body.payload);
  });

  it("is written even if it cannot be enqueued", async () => {
    const id = await newDelivery(integration.id);
    const { caller, enqueued, fail } = withQueue();
    fail();
    const { status, body } = await caller.post(`${path}/deliveries/${id}/redeliver`, undefined);
    expect([status, enqueued]).toEqual([201, []]);
    // The sweep finds it.
    const { status: stored, due_at, created_at } = await rowOf(body.id);
    expect([stored, due_at]).toEqual(["pending", created_at]);
  });
});

describe("a ping", () => {
  it("is a new event for that integration only", async () => {
    await newIntegration(client, project.id, ["changelog"]);
    const { caller, enqueued } = withQueue();
    const { status, body } = await caller.post(`${path}/ping`, undefined);
    expect(status).toBe(201);
    expect(body).toMatchObject({ type: "ping", status: "pending", integration_id: integration.id });
    expect(body.event_id).not.toBe(body.id);
    expect(enqueued).toEqual([body.id]);
    const { body: full } = await client.get(`${path}/deliveries/${body.id}`);
    expect(full.payload).toEqual({
      id: body.event_id,
      type: "ping",
      timestamp: expect.any(String),
      data: { integration_id: integration.id },
    });
    // The event occurs before its delivery is created.
    expect(Date.parse(full.payload.timestamp)).toBeLessThanOrEqual(Date.parse(body.created_at));
    expect(full.attempts).toEqual([]);
  });

  it("is refused, as is a redelivery, while the integration is disabled", async () => {
    const id = await newDelivery(integration.id);
    await disable();
    const { caller, enqueued } = withQueue();
    for (const each of [`${path}/ping`, `${path}/deliveries/${id}/redeliver`]) {
      const { status, body } = await caller.post(each, undefined);
      expect([status, body.code]).toEqual([409, "conflict"]);
    }
    expect(enqueued).toEqual([]);
    await client.patch(path, {});
    expect((await caller.post(`${path}/ping`, undefined)).status).toBe(201);
  });
});

describe("the roles for deliveries", () => {
  it("give no access to a delivery through another integration or project", async () => {
    const id = await newDelivery(integration.id);
    const beside = await newIntegration(client, project.id);
    const other = await newProject(client);
    const foreign = await newIntegration(client, other.id);
    const root = "/v1/projects";
    for (const wrong of [
      `${root}/${project.id}/notification-integrations/${beside.id}`,
      `${root}/${other.id}/notification-integrations/${integration.id}`,
      `${root}/${other.id}/notification-integrations/${foreign.id}`,
    ]) {
      const replies = [
        await client.get(`${wrong}/deliveries/${id}`),
        await client.post(`${wrong}/deliveries/${id}/redeliver`, undefined),
      ];
      for (const { status } of replies) expect(status).toBe(404);
    }
    const elsewhere = `${root}/${other.id}/notification-integrations/${integration.id}`;
    expect((await client.get(`${elsewhere}/deliveries`)).status).toBe(404);
    expect((await client.post(`${elsewhere}/ping`, undefined)).status).toBe(404);
  });
});

describe("a payload", () => {
  it("is documented for every type of event, with a valid example", () => {
    expect(Object.keys(openApi.webhooks).toSorted()).toEqual(EVENT_TYPES.toSorted());
    for (const { post } of Object.values(openApi.webhooks)) {
      const schema = post.requestBody?.content["application/json"]?.schema;
      expect(webhookViolations(resolve(schema ?? {})["example"] as { type: string })).toEqual([]);
    }
  });
});

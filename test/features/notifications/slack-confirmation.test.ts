import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { Client, type Parsed } from "../../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../../support/delivery-harness.ts";
import { insertDeliveries, stored } from "../../support/delivery-rows.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newDelivery, newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { GRANTED, HOOK, SlackHarness } from "../../support/slack-harness.ts";
import { join, newKey, newPool, newProject, newWorld, type World } from "../../support/world.ts";

const HOURS = 3_600_000;
const CHANNEL = {
  workspace_id: "T0123456789",
  workspace_name: "Acme",
  channel_id: "C0123456789",
  channel_name: "#deploys",
};

let world: World;
let client: Client;
let project: Parsed;
let harness: SlackHarness;
let integrations: string;

beforeEach(async () => {
  await clearOutbox();
  world = await newWorld();
  client = world.client;
  project = await newProject(client);
  harness = new SlackHarness();
  integrations = `/v1/projects/${project.id}/notification-integrations`;
});

const changeProject = () =>
  client.post(`/v1/projects/${project.id}/environments`, { name: crypto.randomUUID() });

const confirm = (id: string, by = client) => by.post(`${integrations}/${id}/confirm`, undefined);

/** The changelog of an integration, oldest first. */
async function entriesOf(id: string): Promise<Parsed[]> {
  const { body } = await client.get(`/v1/projects/${project.id}/changelog?limit=240`);
  return body.data.filter(({ record }: Parsed) => record.id === id).toReversed();
}

const receiversOf = async (type: string) =>
  (await listDeliveries(project.id))
    .filter((delivery) => delivery.type === type)
    .map(({ integration_id }) => integration_id);

describe("a Slack installation that is not confirmed", () => {
  it("shows the workspace and the channel to confirm, and until when", async () => {
    const id = await harness.finish(client, project.id);
    const { body } = await client.get(`${integrations}/${id}`);
    expect(body).toMatchObject({ id, type: "slack", confirmed: false, slack: CHANNEL });
    expect(Date.parse(body.confirm_by) - Date.parse(body.created_at)).toBe(24 * HOURS);
    expect((await client.get(integrations)).body.data).toEqual([body]);
    expect(JSON.stringify(body)).not.toContain("hooks.slack");
  });

  it("gets no event, while the other integrations do", async () => {
    const { id: webhook } = await newIntegration(client, project.id, ["changelog"]);
    const id = await harness.finish(client, project.id);
    await changeProject();
    const receivers = await receiversOf("changelog.created");
    expect(receivers.length).toBeGreaterThanOrEqual(2);
    expect(new Set(receivers)).toEqual(new Set([webhook]));
    expect((await confirm(id)).status).toBe(201);
    await changeProject();
    expect(await receiversOf("changelog.created")).toContain(id);
  });

  it("refuses a ping and a redelivery, and the conflict says what to do", async () => {
    const id = await harness.finish(client, project.id);
    const delivery = await newDelivery(id);
    const calls = [
      `${integrations}/${id}/ping`,
      `${integrations}/${id}/deliveries/${delivery}/redeliver`,
    ];
    for (const call of calls) {
      const { status, body } = await client.post(call, undefined);
      expect([status, body.code]).toEqual([409, "conflict"]);
      expect(body.message).toContain("POST …/confirm");
    }
    await confirm(id);
    for (const call of calls) expect((await client.post(call, undefined)).status).toBe(201);
  });

  it("may be changed, which does not confirm it", async () => {
    const id = await harness.finish(client, project.id);
    const path = `${integrations}/${id}`;
    for (const change of [{}, { configuration: { changelog: true, promotions: false } }]) {
      const { status, body } = await client.patch(path, change);
      expect([status, body.confirmed]).toEqual([200, false]);
    }
    await env.DB.prepare("update integrations set disabled_at = 1 where id = ?").bind(id).run();
    expect((await client.patch(path, {})).body).toMatchObject({ confirmed: false });
    expect((await client.patch(path, { confirmed: true })).status).toBe(400);
    await changeProject();
    expect(await receiversOf("changelog.created")).toEqual([]);
    const { body } = await confirm(id);
    expect(body).toMatchObject({ confirmed: true, configuration: { promotions: false } });
  });

  it("is deleted after 24 hours, on record, and a confirmed one is not", async () => {
    const [lapsed, confirmed] = [
      await harness.finish(client, project.id),
      await harness.finish(client, project.id),
    ];
    await confirm(confirmed);
    harness.aheadMs = 24 * HOURS - 60_000;
    await harness.sweep();
    expect((await client.get(integrations)).body.data).toHaveLength(2);
    harness.aheadMs = 24 * HOURS + 60_000;
    const late = await confirm(lapsed, client.via(harness.fetch));
    expect([late.status, late.body.code]).toEqual([409, "conflict"]);
    expect(late.body.message).toContain("Install Slack again");
    await harness.sweep();
    await harness.sweep();
    expect((await client.get(integrations)).body.data).toMatchObject([{ id: confirmed }]);
    const [created, deleted, ...more] = await entriesOf(lapsed);
    expect(more).toEqual([]);
    expect(created).toMatchObject({ action: "created", actor: { key_id: world.keyId } });
    expect(deleted).toMatchObject({ action: "deleted", record: { name: "Slack" } });
    expect(deleted).not.toHaveProperty("actor");
    const usage = await client.get(`/v1/orgs/${world.id}/usage`);
    expect(usage.body.records.integrations.used).toBe(1);
  });

  it("can be confirmed until the millisecond at which it is deleted", async () => {
    const ids = [
      await harness.finish(client, project.id),
      await harness.finish(client, project.id),
    ] as const;
    const end = Date.now() + HOURS;
    const set = "update integrations set confirm_by = ? where project_id = ?";
    await env.DB.prepare(set).bind(end, project.id).run();
    let now = end - 1;
    const worker = new Instrumented({ clock: { now: () => now } });
    const caller = client.via(worker.fetch);
    await worker.sweep();
    expect((await confirm(ids[0], caller)).status).toBe(201);
    now = end;
    expect((await confirm(ids[1], caller)).status).toBe(409);
    await worker.sweep();
    expect((await client.get(integrations)).body.data).toMatchObject([{ id: ids[0] }]);
  });

  it("may be rejected by deleting it", async () => {
    const id = await harness.finish(client, project.id);
    expect((await client.delete(`${integrations}/${id}`)).status).toBe(204);
    expect((await confirm(id)).status).toBe(404);
  });

  it("counts toward the maximum of its project", async () => {
    for (let count = 0; count < 19; count += 1) await newIntegration(client, project.id);
    await harness.finish(client, project.id);
    const body = { type: "webhook", configuration: {}, url: "https://example.com" };
    expect((await client.post(integrations, body)).status).toBe(409);
  });
});

describe("a confirmation", () => {
  it("is the first event that the channel gets, and both are on record with their keys", async () => {
    const id = await harness.finish(client, project.id);
    const owner = await newKey(world);
    const { status, body } = await confirm(id, owner.client);
    expect(status).toBe(201);
    expect(body).toMatchObject({ id, confirmed: true, slack: CHANNEL });
    expect(body).not.toHaveProperty("confirm_by");
    expect((await client.get(`${integrations}/${id}`)).body).toEqual(body);

    const [created, confirmed, ...more] = await entriesOf(id);
    expect(more).toEqual([]);
    expect(created).toMatchObject({
      action: "created",
      record: { name: "Slack" },
      actor: { key_id: world.keyId },
      after: { slack: CHANNEL, confirmed: false },
    });
    expect(confirmed).toMatchObject({
      action: "confirmed",
      record: { name: "Slack" },
      before: { confirmed: false },
      after: { confirmed: true },
    });
    expect(confirmed.actor.key_id).not.toBe(world.keyId);
    const [first, ...others] = await listDeliveries(project.id);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ integration_id: id, data: { action: "confirmed" } });
  });

  it("changes nothing the second time, or for a webhook", async () => {
    const id = await harness.finish(client, project.id);
    const { body: first } = await confirm(id);
    harness.aheadMs = 48 * HOURS;
    const again = await confirm(id, client.via(harness.fetch));
    expect([again.status, again.body]).toEqual([201, first]);
    expect(await entriesOf(id)).toHaveLength(2);

    const { secret: _, ...webhook } = await newIntegration(client, project.id);
    const reply = await confirm(webhook.id);
    expect([reply.status, reply.body]).toEqual([201, webhook]);
    expect(await entriesOf(webhook.id)).toHaveLength(1);
  });

  it("is recorded once for concurrent requests", async () => {
    const id = await harness.finish(client, project.id);
    const replies = await Promise.all([1, 2, 3, 4].map(() => confirm(id)));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await entriesOf(id)).toHaveLength(2);
  });

  it("needs a key of an owner of the project, or of an admin of the organization", async () => {
    const id = await harness.finish(client, project.id);
    const members = `/v1/projects/${project.id}/members`;
    const people = await Promise.all(
      (["viewer", "contributor", "owner"] as const).map(async (role) => {
        const person = await join(world);
        await client.post(members, { member_ids: [person.membershipId], role });
        return person.client;
      }),
    );
    const [viewer, contributor, owner] = people;
    const outsider = (await join(world)).client;
    for (const each of [viewer, contributor, outsider]) {
      const reply = await confirm(id, each);
      expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
    }
    const pool = await newPool(world, [project.default_environment_id]);
    for (const each of [pool.runner, new Client(undefined)]) {
      expect((await confirm(id, each)).status).toBe(401);
    }
    expect((await confirm(id, (await newWorld()).client)).status).toBe(404);
    const other = await newProject(client);
    const elsewhere = `/v1/projects/${other.id}/notification-integrations/${id}/confirm`;
    expect((await client.post(elsewhere, undefined)).status).toBe(404);
    expect((await client.get(`${integrations}/${id}`)).body.confirmed).toBe(false);

    expect((await confirm(id, owner)).status).toBe(201);
    const second = await harness.finish(client, project.id);
    expect((await confirm(second, (await join(world, "admin")).client)).status).toBe(201);
  });
});

describe("a delivery to an integration that is not confirmed", () => {
  it("is not sent, but fails when it is due", async () => {
    const id = await harness.finish(client, project.id);
    const sending = new DeliveryHarness(() => new Response("ok"));
    const [delivery = ""] = await insertDeliveries(project, id, sending.now);
    sending.enqueue([delivery]);
    await sending.runUntil(sending.now + 2 * HOURS);
    expect(sending.received).toEqual([]);
    const failed = { status: "failed", failure_reason: "integration_unconfirmed", attempts: 0 };
    expect(await stored(delivery)).toMatchObject(failed);
    const { body } = await client.get(`${integrations}/${id}/deliveries`);
    expect(body.data).toMatchObject([{ failure_reason: "integration_unconfirmed" }]);

    await confirm(id);
    await clearOutbox();
    const [next = ""] = await insertDeliveries(project, id, sending.now);
    sending.enqueue([next]);
    await sending.runUntil(sending.now);
    expect(sending.received.map(({ url }) => url)).toEqual([HOOK]);
  });
});

describe("the names from Slack", () => {
  it.each([
    ["of any length", { name: "x".repeat(200) }, `${"x".repeat(99)}…`],
    ["with formatting characters", { name: "Ac\u202Eme\u0000\n Inc" }, "Ac me Inc"],
    ["that are no text", { name: 1 }, undefined],
    ["that are blank", { name: " " }, undefined],
  ])("%s are shown as one short line", async (_, team, shown) => {
    const id = await new SlackHarness(async () => Response.json({ ...GRANTED, team })).finish(
      client,
      project.id,
    );
    const { slack } = (await client.get(`${integrations}/${id}`)).body;
    expect(slack.workspace_name).toBe(shown);
    expect(slack).not.toHaveProperty("workspace_id");
    expect(slack.channel_name).toBe("#deploys");
  });

  it.each([[{ team: null }], [{ team: "T1" }], [{ team: { id: "<b>", name: null } }]])(
    "may be absent: %j",
    async (more) => {
      const answer = async () => Response.json({ ...GRANTED, ...more });
      const id = await new SlackHarness(answer).finish(client, project.id);
      const { slack } = (await client.get(`${integrations}/${id}`)).body;
      expect(slack).toEqual({ channel_id: "C0123456789", channel_name: "#deploys" });
    },
  );
});

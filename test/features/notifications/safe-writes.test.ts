import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Client, Parsed, Reply } from "../../support/client.ts";
import { SlackHarness } from "../../support/slack-harness.ts";
import {
  newDelivery,
  newIntegration,
  newKey,
  newProject,
  newWorld,
  type World,
} from "../../support/world.ts";

const HOUR = 3_600_000;
const URL_WITH_TOKEN = "https://hooks.example.com/a-secret-path?token=abc";

let world: World;
let client: Client;
let project: Parsed;
let all: string;

beforeEach(async () => {
  world = await newWorld();
  ({ client } = await newKey(world));
  project = await newProject(client);
  all = `/v1/projects/${project.id}/notification-integrations`;
});

const pathOf = ({ id }: Parsed) => `${all}/${id}`;
const send = (method: string, path: string, key: string, body?: object): Promise<Reply> =>
  client.request(method, path, body, { "idempotency-key": key });
const tagOf = (reply: Reply) => String(reply.headers.get("etag"));
const write = (id: string, assignments: string) =>
  env.DB.prepare(`update integrations set ${assignments} where id = ?`).bind(id).run();
const integrationRow = (id: string) =>
  env.DB.prepare("select * from integrations where id = ?").bind(id).first<Parsed>();

async function storedRecords(): Promise<string> {
  const { results } = await env.DB.prepare(
    "select * from idempotency_records where organization_id = ?",
  )
    .bind(world.id)
    .all();
  return JSON.stringify(results);
}

function expectRepeated(repeat: Reply, first: Reply): void {
  expect([repeat.status, repeat.text]).toEqual([first.status, first.text]);
  for (const name of ["etag", "location"]) {
    expect(repeat.headers.get(name)).toBe(first.headers.get(name));
  }
  expect(repeat.headers.get("idempotency-replayed")).toBe("true");
}

describe("a repeated creation of a webhook", () => {
  const body = {
    type: "webhook",
    configuration: { promotions: true },
    url: URL_WITH_TOKEN,
  };

  it("shows the secret of the first response, also after the webhook was deleted", async () => {
    const first = await send("POST", all, "create-1", body);
    expect(first.status).toBe(201);
    const path = pathOf(first.body);
    expect(first.headers.get("location")).toBe(path);
    expect((await client.get(path)).headers.get("etag")).toBe(tagOf(first));
    await client.patch(path, { configuration: { promotions: false } });
    expectRepeated(await send("POST", all, "create-1", body), first);
    await client.delete(path);
    expectRepeated(await send("POST", all, "create-1", body), first);
    expect((await client.get(all)).body.data).toEqual([]);
  });

  it("stores neither the secret nor the URL in clear", async () => {
    const { body: created } = await send("POST", all, "create-1", body);
    const records = await storedRecords();
    expect(records).toContain(created.id);
    for (const secret of [created.secret, "a-secret-path", "token=abc"]) {
      expect(records).not.toContain(secret);
    }
  });

  it("is a new request if the first one failed", async () => {
    const filtered = { ...body, environment_ids: [project.id] };
    expect((await send("POST", all, "create-1", filtered)).status).toBe(404);
    expect(await storedRecords()).toBe("[]");
    expect((await send("POST", all, "create-1", body)).status).toBe(201);
  });
});

describe("a repeated rotation", () => {
  it("shows the same secret, and rotates nothing", async () => {
    const path = pathOf(await newIntegration(client, project.id));
    const first = await send("POST", `${path}/rotate-secret`, "rotate-1");
    const row = await integrationRow(first.body.id);
    expectRepeated(await send("POST", `${path}/rotate-secret`, "rotate-1"), first);
    expect(await integrationRow(first.body.id)).toEqual(row);
    expect(await storedRecords()).not.toContain(first.body.secret);
    expect(tagOf(await client.get(path))).toBe(tagOf(first));
    const other = await send("POST", `${path}/rotate-secret`, "rotate-2");
    expect(other.body.secret).not.toBe(first.body.secret);
  });
});

describe("a repeated change", () => {
  it("gets the first response, and does not undo a later change", async () => {
    const path = pathOf(await newIntegration(client, project.id));
    const change = { configuration: { promotions: true }, environment_ids: null };
    const first = await send("PATCH", path, "change-1", change);
    await client.patch(path, { configuration: { promotions: false } });
    expectRepeated(await send("PATCH", path, "change-1", change), first);
    expect((await client.get(path)).body.configuration.promotions).toBe(false);
  });

  it("that changed nothing changes nothing later", async () => {
    const integration = await newIntegration(client, project.id);
    const path = pathOf(integration);
    const first = await send("PATCH", path, "change-1", {});
    await write(integration.id, "disabled_at = 1, disabled_reason = 'gone'");
    expectRepeated(await send("PATCH", path, "change-1", {}), first);
    expect((await client.get(path)).body.disabled_reason).toBe("gone");
  });
});

describe("a repeated confirmation or resumption", () => {
  it("confirms a Slack installation once", async () => {
    const id = await new SlackHarness().finish(client, project.id);
    const first = await send("POST", `${all}/${id}/confirm`, "confirm-1");
    expect(first.body.confirmed).toBe(true);
    const { body: entries } = await client.get(`/v1/projects/${project.id}/changelog`);
    expectRepeated(await send("POST", `${all}/${id}/confirm`, "confirm-1"), first);
    expect((await client.get(`/v1/projects/${project.id}/changelog`)).body).toEqual(entries);
    expect(tagOf(await client.get(`${all}/${id}`))).toBe(tagOf(first));
  });

  it("does not end a later pause", async () => {
    const { id } = await newIntegration(client, project.id);
    const pause = () => write(id, `paused_until = ${Date.now() + HOUR}`);
    await pause();
    const first = await send("POST", `${all}/${id}/resume`, "resume-1");
    expect(first.body).not.toHaveProperty("paused_until");
    await pause();
    expectRepeated(await send("POST", `${all}/${id}/resume`, "resume-1"), first);
    expect((await client.get(`${all}/${id}`)).body).toHaveProperty("paused_until");
  });
});

describe("a repeated ping or redelivery", () => {
  it("creates one delivery", async () => {
    const integration = await newIntegration(client, project.id);
    const path = pathOf(integration);
    const failed = await newDelivery(integration.id, { status: "failed" });
    const calls = [`${path}/ping`, `${path}/deliveries/${failed}/redeliver`];
    for (const call of calls) {
      const first = await send("POST", call, call);
      expect(first.headers.get("location")).toBe(`${path}/deliveries/${first.body.id}`);
      const { body: found } = await client.get(String(first.headers.get("location")));
      expect(found).toMatchObject({ id: first.body.id, event_id: first.body.event_id });
      await env.DB.prepare(
        "update deliveries set status = 'failed', attempts = 9, finished_at = 5 where id = ?",
      )
        .bind(first.body.id)
        .run();
      expectRepeated(await send("POST", call, call), first);
    }
    expect((await client.get(`${path}/deliveries`)).body.data.length).toBe(3);
  });

  it("is a new request if the integration was disabled", async () => {
    const integration = await newIntegration(client, project.id);
    const path = pathOf(integration);
    await write(integration.id, "disabled_at = 1, disabled_reason = 'gone'");
    expect((await send("POST", `${path}/ping`, "ping-1")).status).toBe(409);
    await client.patch(path, {});
    expect((await send("POST", `${path}/ping`, "ping-1")).status).toBe(201);
  });
});

describe("a repeated recovery", () => {
  it("is no second one, and shows the progress of the first one as it was", async () => {
    const path = `${pathOf(await newIntegration(client, project.id))}/recoveries`;
    const body = { since: new Date(Date.now() - HOUR).toISOString() };
    const first = await send("POST", path, "recovery-1", body);
    expect(first.status).toBe(201);
    expect(tagOf(await client.get(String(first.headers.get("location"))))).toBe(tagOf(first));
    expect((await send("POST", path, "recovery-2", body)).status).toBe(409);
    await env.DB.prepare("update recoveries set recovered = 7 where id = ?")
      .bind(first.body.id)
      .run();
    expectRepeated(await send("POST", path, "recovery-1", body), first);
    const found = await client.get(String(first.headers.get("location")));
    expect(found.body.delivery_count).toBe(7);
    expect(tagOf(found)).not.toBe(tagOf(first));
  });
});

describe("a write of an integration with If-Match", () => {
  const request = (method: string, path: string, etag: string, body?: object) =>
    client.request(method, path, body, { "if-match": etag });

  it("is a conflict after each write of a caller, and writes nothing", async () => {
    const { id } = await newIntegration(client, project.id);
    const path = `${all}/${id}`;
    const writes = [
      () => client.patch(path, { configuration: { changelog: true } }),
      () => client.post(`${path}/rotate-secret`, undefined),
      () => client.post(`${path}/resume`, undefined),
    ];
    for (const writeAsCaller of writes) {
      const old = tagOf(await client.get(path));
      await writeAsCaller();
      const current = tagOf(await client.get(path));
      const row = await integrationRow(id);
      const change = { configuration: { changelog: false } };
      for (const refused of [
        await request("PATCH", path, old, change),
        await request("DELETE", path, old),
      ]) {
        expect(refused).toMatchObject({ status: 409, body: { cause: { etag: current } } });
      }
      expect(await integrationRow(id)).toEqual(row);
    }
    expect((await request("PATCH", path, tagOf(await client.get(path)), {})).status).toBe(200);
    expect((await request("DELETE", path, tagOf(await client.get(path)))).status).toBe(204);
  });

  it("is a conflict after a confirmation", async () => {
    const id = await new SlackHarness().finish(client, project.id);
    const old = tagOf(await client.get(`${all}/${id}`));
    await client.post(`${all}/${id}/confirm`, undefined);
    const refused = await request("PATCH", `${all}/${id}`, old, {
      configuration: { changelog: false },
    });
    expect(refused.status).toBe(409);
  });

  it("ignores what the service itself writes, which a read shows", async () => {
    const { id } = await newIntegration(client, project.id);
    const path = `${all}/${id}`;
    const old = tagOf(await client.get(path));
    await write(id, `paused_until = ${Date.now() + HOUR}, failing_since = 5, last_sent_at = 6`);
    const read = await client.get(path, { "if-none-match": old });
    expect(read.status).toBe(200);
    expect(tagOf(read)).not.toBe(old);
    expect((await client.get(path, { "if-none-match": tagOf(read) })).status).toBe(304);
    const changed = await request("PATCH", path, old, { configuration: { changelog: true } });
    expect(changed.status).toBe(200);
  });

  it("succeeds once of many at the same time", async () => {
    const { id } = await newIntegration(client, project.id);
    const path = `${all}/${id}`;
    const old = tagOf(await client.get(path));
    const kinds = ["changelog", "promotions", "services_ok", "services_in_alarm"];
    const replies = await Promise.all(
      kinds.map((kind) => request("PATCH", path, old, { configuration: { [kind]: true } })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    const { configuration } = (await client.get(path)).body;
    expect(Object.values(configuration).filter(Boolean)).toEqual([true]);
  });
});

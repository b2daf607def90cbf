import { env } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { NOTIFICATION_KINDS } from "../../../src/features/housekeeping/outbox/events.ts";
import {
  secretContext,
  urlContext,
} from "../../../src/features/notifications/integrations/index.ts";
import { Cipher } from "../../../src/lib/cipher.ts";
import { CANARY_PREFIX } from "../../support/canary-secrets.ts";
import type { Client, Parsed } from "../../support/client.ts";
import { Instrumented } from "../../support/instruments.ts";
import { newIntegration } from "../../support/integrations.ts";
import { listDeliveries } from "../../support/outbox.ts";
import { GOOD, HOSTILE } from "../../support/targets.ts";
import { newKey, newProject, newWorld, type World } from "../../support/world.ts";

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
/**
 * Of two requests each: below the quarter of a key's limit that is admitted while the rate limiter
 * does not respond in time, as on a busy machine.
 */
const URLS_PER_KEY = 12;
const DAY = 24 * 60 * 60 * 1000;

let world: World;
let client: Client;
let project: Parsed;
let integrations: string;

beforeEach(async () => {
  world = await newWorld();
  client = world.client;
  project = await newProject(client);
  integrations = `/v1/projects/${project.id}/notification-integrations`;
});

const rowOf = async (id: string) => {
  const row = await env.DB.prepare("select * from integrations where id = ?").bind(id).first();
  return row as Record<string, string | number | null>;
};

const flags = (...on: string[]) =>
  Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind, on.includes(kind)]));

describe("a webhook integration", () => {
  it("is created, read, listed, changed and deleted", async () => {
    const body = {
      type: "webhook",
      configuration: { promotions: true, changelog: false },
      url: "https://EXAMPLE.com/hooks",
    };
    const created = await client.post(integrations, body);
    expect(created.status).toBe(201);
    const { secret, ...record } = created.body;
    expect(secret).toMatch(SECRET);
    expect(record).toEqual({
      id: expect.any(String),
      project_id: project.id,
      type: "webhook",
      configuration: flags("promotions"),
      url: "https://example.com/***",
      confirmed: true,
      created_at: expect.any(String),
      updated_at: record.created_at,
    });
    const path = `${integrations}/${record.id}`;
    expect((await client.get(path)).body).toEqual(record);
    const second = await newIntegration(client, project.id);
    const { body: list } = await client.get(integrations);
    expect(list).toEqual({
      data: [expect.objectContaining({ id: second.id }), record],
      has_more: false,
    });

    const changed = await client.patch(path, { configuration: { services_ok: true } });
    expect(changed.body.configuration).toEqual(flags("promotions", "services_ok"));
    const off = await client.patch(path, { configuration: { promotions: false }, url: GOOD[7] });
    expect(off.body).toMatchObject({
      configuration: flags("services_ok"),
      url: "https://example.com/***",
    });
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get(path)).status).toBe(404);
    expect((await client.delete(path)).status).toBe(404);
    expect((await client.get(integrations)).body.data).toHaveLength(1);
  });

  it("has an encrypted URL and secret, each of which decrypts in its own context only", async () => {
    const url = "https://example.com/hooks?token=abc";
    const { id, secret } = await newIntegration(client, project.id, [], url);
    const row = await rowOf(id);
    expect(JSON.stringify(row)).not.toMatch(/abc|whsec_/);
    expect(row["shown_url"]).toBe("https://example.com/***");
    const cipher = await Cipher.of(env.ENCRYPTION_KEYS);
    const reference = { id, organizationId: world.id, projectId: project.id };
    const places = { url: urlContext(reference), secret: secretContext(reference) };
    expect(await cipher.open(String(row["url"]), places.url)).toBe(url);
    expect(await cipher.open(String(row["secret"]), places.secret)).toBe(secret);
    await expect(cipher.open(String(row["url"]), places.secret)).rejects.toThrow();
    await expect(cipher.open(String(row["secret"]), places.url)).rejects.toThrow();
  });

  it("has a unique secret that the library of Standard Webhooks accepts", async () => {
    const made = await Promise.all([1, 2, 3].map(() => newIntegration(client, project.id)));
    const secrets = made.map(({ secret }) => secret);
    expect(new Set(secrets).size).toBe(3);
    for (const secret of secrets) {
      const signature = new Webhook(secret).sign("msg_1", new Date(), "{}");
      expect(signature).toMatch(/^v1,/);
      expect(atob(secret.slice("whsec_".length))).toHaveLength(32);
    }
  });

  it("shows only the scheme, the host without its first label, and the port, everywhere", async () => {
    const witness = await newIntegration(client, project.id, ["changelog"]);
    const [subdomain, segment, name, value] = ["k3y7x9", "s3gm3nt", "p4r4m", "qu3ry"];
    const url = `https://${subdomain}.hooks.example.com:8443/${segment}?${name}=${value}`;
    const shown = "https://***.hooks.example.com:8443/***";
    const body = { type: "webhook", configuration: { changelog: true }, url };
    const created = await client.post(integrations, body);
    const path = `${integrations}/${created.body.id}`;
    const replaced = await client.patch(path, { url: `${url}&more=1` });
    const records = [created, replaced, await client.get(path)];
    for (const { body: record } of records) expect(record.url).toBe(shown);
    const rotated = await client.post(`${path}/rotate-secret`, undefined);
    expect(rotated.body.url).toBe(shown);
    await client.delete(path);
    const changelog = await client.get(`/v1/projects/${project.id}/changelog`);
    const { data } = await client.get(integrations).then((reply) => reply.body);
    const deliveries = await listDeliveries(project.id);
    const texts = [...records.map(({ text }) => text), rotated.text, changelog.text, data];
    for (const hidden of [subdomain, segment, name, value]) {
      expect(JSON.stringify([texts, deliveries])).not.toContain(hidden);
    }
    const entries = changelog.body.data.filter(
      ({ record }: Parsed) => record.id === created.body.id,
    );
    expect(entries.map(({ action, record }: Parsed) => [action, record.name])).toEqual(
      ["deleted", "updated", "updated", "created"].map((action) => [
        action,
        "***.hooks.example.com:8443",
      ]),
    );
    expect(entries[2]).toMatchObject({ before: {}, after: { url_replaced: true } });
    const told = deliveries.filter(({ integration_id }) => integration_id === witness.id);
    expect(told.at(-1)?.data.record.name).toBe("***.hooks.example.com:8443");
  });

  it("does not accept the URL that it shows, because that would lose its path", async () => {
    const { id, url } = await newIntegration(client, project.id);
    const path = `${integrations}/${id}`;
    const before = await rowOf(id);
    for (const each of [url, "https://example.com/***", "https://***.example.com/hooks"]) {
      const reply = await client.patch(path, { url: each });
      expect([reply.status, reply.body.cause?.issues[0].path], each).toEqual([400, "url"]);
      expect(reply.body.message).toContain("stands for parts that are not shown");
    }
    expect(await rowOf(id)).toEqual(before);
    const accepted = await client.patch(path, { url: "https://example.com/a*b" });
    expect(accepted.status).toBe(200);
  });

  it("shows no part of a refused URL, in the response or in the log", async () => {
    const worker = new Instrumented();
    const caller = client.via(worker.fetch);
    for (const url of [
      `https://example.com/?token=${CANARY_PREFIX}x`,
      `https://user:${CANARY_PREFIX}x@example.com/`,
      `ftp://example.com/${CANARY_PREFIX}x`,
      `https://${CANARY_PREFIX}x`,
    ]) {
      const { text } = await caller.post(integrations, { type: "webhook", configuration: {}, url });
      expect(text).not.toContain(CANARY_PREFIX);
    }
    expect(worker.logged.length).toBeGreaterThan(3);
    expect(JSON.stringify(worker.logged)).not.toMatch(/canary-secret|whsec_/);
  });

  it("sends the event of its creation to itself, and that of its deletion to the others", async () => {
    const witness = await newIntegration(client, project.id, ["changelog"]);
    const { id } = await newIntegration(client, project.id, ["changelog"]);
    await client.delete(`${integrations}/${id}`);
    const deliveries = await listDeliveries(project.id);
    const told = deliveries
      .filter(({ integration_id }) => integration_id === witness.id)
      .map(({ data }) => data);
    expect(told.map(({ action, record }) => [action, record.id])).toEqual([
      ["created", witness.id],
      ["created", id],
      ["deleted", id],
    ]);
  });
});

describe("the secret of a webhook", () => {
  it("is rotated, and the previous secret is kept for a day", async () => {
    const { id, secret } = await newIntegration(client, project.id);
    const cipher = await Cipher.of(env.ENCRYPTION_KEYS);
    const read = async () => {
      const row = await rowOf(id);
      const context = secretContext({ id, organizationId: world.id, projectId: project.id });
      const open = (text: unknown) => cipher.open(String(text), context);
      return {
        now: await open(row["secret"]),
        before: await open(row["previous_secret"]),
        until: Number(row["previous_secret_until"]),
      };
    };
    const rotate = () => client.post(`${integrations}/${id}/rotate-secret`, undefined);
    const began = Date.now();
    const { status, body: first } = await rotate();
    expect(status).toBe(200);
    expect(first.secret).toMatch(SECRET);
    expect(first.secret).not.toBe(secret);
    const once = await read();
    expect(once).toMatchObject({ now: first.secret, before: secret });
    expect(once.until - DAY).toBeGreaterThanOrEqual(began);
    expect(once.until - DAY).toBeLessThanOrEqual(Date.now());
    expect(first.previous_secret_until).toBe(new Date(once.until).toISOString());
    // Another rotation within the day drops the oldest secret.
    const { body: second } = await rotate();
    expect(await read()).toMatchObject({ now: second.secret, before: first.secret });
  });
});

describe("the target of a webhook", () => {
  it("is refused if it is not on the public Internet, with an issue about `url`", async () => {
    const { id } = await newIntegration(client, project.id);
    const urls = Object.values(HOSTILE).flat();
    for (let at = 0; at < urls.length; at += URLS_PER_KEY) {
      const { client: caller } = await newKey(world);
      for (const url of urls.slice(at, at + URLS_PER_KEY)) {
        const body = { type: "webhook", configuration: {}, url };
        for (const reply of [
          await caller.post(integrations, body),
          await caller.patch(`${integrations}/${id}`, { url }),
        ]) {
          expect([reply.status, reply.body.cause?.issues[0].path], url).toEqual([400, "url"]);
        }
      }
    }
    expect((await client.get(integrations)).body.data).toHaveLength(1);
  });

  it("is accepted if it is on the public Internet", async () => {
    for (const url of GOOD) {
      const reply = await client.post(integrations, { type: "webhook", configuration: {}, url });
      expect(reply.status, url).toBe(201);
    }
  });

  it("has up to 2,000 characters, none of them a control character", async () => {
    const long = `https://example.com/${"x".repeat(2_000)}`;
    for (const url of [
      long.slice(0, 2_001),
      "https://example.com/\n",
      "",
      " ",
      1,
      null,
      undefined,
    ]) {
      const reply = await client.post(integrations, { type: "webhook", configuration: {}, url });
      expect([reply.status, reply.body.cause.issues[0].path]).toEqual([400, "url"]);
    }
    await newIntegration(client, project.id, [], long.slice(0, 2_000));
  });

  it("may be local only if ALLOW_INSECURE_WEBHOOKS is `true`", async () => {
    const app = createApp();
    const attempt = async (setting: string) => {
      const bindings = { ...env, ALLOW_INSECURE_WEBHOOKS: setting } as unknown as Env;
      const execution = {
        waitUntil() {},
        passThroughOnException() {},
      } as unknown as ExecutionContext;
      const caller = client.via((request) => {
        const local = request.url.replace("https://longshore.test", "http://localhost:8787");
        return app.fetch(new Request(local, request), bindings, execution);
      });
      const url = "http://127.0.0.1:5000/hooks";
      return (await caller.post(integrations, { type: "webhook", configuration: {}, url })).status;
    };
    expect(await attempt("true")).toBe(201);
    for (const setting of ["false", "1", "TRUE", ""]) expect(await attempt(setting)).toBe(400);
  });
});

describe("an integration that was disabled", () => {
  const disable = (id: string) =>
    env.DB.prepare(
      `update integrations set disabled_at = 5, disabled_reason = 'failing', failing_since = 4,
        paused_until = 6 where id = ?`,
    )
      .bind(id)
      .run();

  it("states since when and why, and is enabled by any update", async () => {
    const { id } = await newIntegration(client, project.id);
    const path = `${integrations}/${id}`;
    for (const body of [
      {},
      { configuration: { changelog: true } },
      { url: "https://example.com" },
    ]) {
      await disable(id);
      expect((await client.get(path)).body).toMatchObject({
        disabled_at: "1970-01-01T00:00:00.005Z",
        disabled_reason: "failing",
      });
      const { status, body: enabled } = await client.patch(path, body);
      expect(status).toBe(200);
      expect(enabled).not.toHaveProperty("disabled_at");
      expect(enabled).not.toHaveProperty("disabled_reason");
      expect(await rowOf(id)).toMatchObject({
        disabled_at: null,
        disabled_reason: null,
        failing_since: null,
        paused_until: null,
      });
    }
  });

  it("stays failing if it was only failing, unless it gets another URL", async () => {
    const { id } = await newIntegration(client, project.id);
    const path = `${integrations}/${id}`;
    await env.DB.prepare("update integrations set failing_since = 4, paused_until = 6 where id = ?")
      .bind(id)
      .run();
    await client.patch(path, { configuration: { changelog: true } });
    expect(await rowOf(id)).toMatchObject({ failing_since: 4, paused_until: 6 });
    await client.patch(path, { url: "https://example.com/new" });
    expect(await rowOf(id)).toMatchObject({ failing_since: null, paused_until: null });
  });
});

describe("a project", () => {
  it("has at most 20 integrations, also if several are created at once", async () => {
    for (let count = 0; count < 19; count += 1) await newIntegration(client, project.id);
    const body = { type: "webhook", configuration: {}, url: "https://example.com" };
    const replies = await Promise.all([1, 2, 3].map(() => client.post(integrations, body)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    expect((await client.get(integrations)).body.data).toHaveLength(20);
    const refused = replies.filter(({ status }) => status === 409);
    for (const {
      body: { message },
    } of refused)
      expect(message).toContain("Delete one first");
  });

  it("gives access to its own integrations only", async () => {
    const { id } = await newIntegration(client, project.id);
    const other = await newProject(client);
    const path = `/v1/projects/${other.id}/notification-integrations/${id}`;
    const replies = [
      await client.get(path),
      await client.patch(path, {}),
      await client.delete(path),
      await client.post(`${path}/rotate-secret`, undefined),
      await client.post(`${path}/confirm`, undefined),
    ];
    for (const { status, body } of replies) expect([status, body.code]).toEqual([404, "not_found"]);
    expect((await client.get(`${integrations}/${id}`)).status).toBe(200);
  });
});

describe("a request for an integration", () => {
  const good = { type: "webhook", configuration: {}, url: "https://example.com" };

  it.each([
    [{ ...good, type: "slack" }, "type"],
    [{ ...good, configuration: { deploys: true } }, "configuration.deploys"],
    [{ ...good, configuration: { changelog: "true" } }, "configuration.changelog"],
    [{ ...good, configuration: undefined }, "configuration"],
  ])("is refused as %j", async (body, path) => {
    const reply = await client.post(integrations, body);
    expect([reply.status, reply.body.cause.issues[0].path]).toEqual([400, path]);
  });

  it("may neither set the URL of a Slack integration nor rotate a secret of it", async () => {
    const { id } = await newIntegration(client, project.id);
    await env.DB.prepare(
      "update integrations set type = 'slack', secret = null, shown_url = '#deploys' where id = ?",
    )
      .bind(id)
      .run();
    const path = `${integrations}/${id}`;
    expect((await client.get(path)).body).not.toHaveProperty("url");
    const refused = await client.patch(path, { url: "https://example.com" });
    expect([refused.status, refused.body.cause.issues[0].path]).toEqual([400, "url"]);
    expect((await client.post(`${path}/rotate-secret`, undefined)).status).toBe(409);
    expect((await client.patch(path, { configuration: { changelog: true } })).status).toBe(200);
  });
});

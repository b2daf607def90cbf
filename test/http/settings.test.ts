import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { rotateBatch } from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import { Client, type Reply } from "../support/client.ts";
import { clearOutbox, DeliveryHarness } from "../support/delivery-harness.ts";
import { insertDeliveries, insertIntegration, stored } from "../support/delivery-rows.ts";
import { newPool, newProject, newWorld, type Pool, type World } from "../support/world.ts";

const MINUTE = 60_000;
const PUBLIC_ORIGIN = "https://longshore.test";
/** The published key, and another base64 text of the same bytes. */
const SAMPLE_KEY = "Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtISE=";
const SAMPLE_KEY_VARIANT = "Y2hhbmdlLW1lLWNoYW5nZS1tZS1jaGFuZ2UtbWUtISF=";
const GOOD_KEY = btoa("0123456789abcdef0123456789ABCDEF");
const HEX = "0123456789abcdef0123456789abcdef";

type Bindings = Record<string, string | undefined>;

let world: World;
let pool: Pool;

beforeAll(async () => {
  world = await newWorld();
  const project = await newProject(world.client);
  pool = await newPool(world, [project.default_environment_id]);
});

/** A deployment with these settings, at this origin. */
class Deployment {
  readonly logged: { level: string; event: string; fields: Record<string, unknown> }[] = [];
  readonly fetch: (request: Request) => Promise<Response>;

  constructor(settings: Bindings, origin = PUBLIC_ORIGIN) {
    const app = createApp({
      log: (level, event, fields) => this.logged.push({ level, event, fields }),
    });
    const bindings = { ...env, ...settings } as unknown as Env;
    this.fetch = (request) => {
      const url = request.url.replace(PUBLIC_ORIGIN, origin);
      return app.fetch(new Request(url, request), bindings, createExecutionContext());
    };
  }

  get refusals() {
    return this.logged.filter(({ event }) => event === "settings.refused");
  }

  health(): Promise<Reply> {
    return new Client(undefined, this.fetch).get("/health");
  }

  projects(): Promise<Reply> {
    return world.client.via(this.fetch).get("/v1/projects");
  }

  /** One request of each kind of caller. */
  everyCaller(): Promise<Reply[]> {
    const anonymous = new Client(undefined, this.fetch);
    return Promise.all([
      this.projects(),
      world.client.via(this.fetch).post("/v1/projects", { name: "storefront" }),
      pool.runner.via(this.fetch).post("/v1/runner/claims", { request_id: crypto.randomUUID() }),
      anonymous.request("POST", "/v1/bootstrap", {}, { authorization: "Bearer change-me" }),
      anonymous.get("/v1/projects"),
      anonymous.get("/openapi.json"),
      anonymous.get("/nowhere"),
    ]);
  }
}

function expectOnlyRequestId(reply: Reply): void {
  const { request_id, ...others } = reply.body.cause;
  expect([reply.status, reply.body.code, others]).toEqual([500, "internal", {}]);
  expect(request_id).toBe(reply.headers.get("x-request-id"));
}

describe("a deployment refuses every request but /health, which names the setting, if", () => {
  it.each<[string, keyof Env, string | undefined, string]>([
    ["the bootstrap token is the sample", "BOOTSTRAP_TOKEN", "change-me", "published sample"],
    ["the lease secret is the sample", "LEASE_SECRET", "change-me-too", "published sample"],
    ["the sample has spaces around", "LEASE_SECRET", " change-me\n", "published sample"],
    ["the sample is repeated", "LEASE_SECRET", "change-me".repeat(9), "published sample"],
    ["the sample key is a token", "BOOTSTRAP_TOKEN", SAMPLE_KEY, "published sample"],
    ["the key is the sample", "ENCRYPTION_KEYS", `k1:${SAMPLE_KEY}`, "Key 1 of"],
    ["the sample key has another ID", "ENCRYPTION_KEYS", `prod:${SAMPLE_KEY}`, "Key 1 of"],
    ["the sample key has another base64", "ENCRYPTION_KEYS", `k1:${SAMPLE_KEY_VARIANT}`, "Key 1"],
    [
      "the sample key only decrypts",
      "ENCRYPTION_KEYS",
      `k2:${GOOD_KEY}, k1:${SAMPLE_KEY}`,
      "Key 2 of the keyring is a published sample",
    ],
    ["a key is short", "ENCRYPTION_KEYS", `k1:${btoa("31 bytes".padEnd(31))}`, "of 32 bytes"],
    ["the keyring is malformed", "ENCRYPTION_KEYS", GOOD_KEY, "Entry 1 of the keyring"],
    ["the bootstrap token is short", "BOOTSTRAP_TOKEN", HEX.slice(1), "fewer than 32 characters"],
    ["the lease secret is short", "LEASE_SECRET", HEX.slice(1).padEnd(40), "fewer than 32"],
    ["the bootstrap token is empty", "BOOTSTRAP_TOKEN", "", "not set"],
    ["the lease secret is blank", "LEASE_SECRET", " ", "not set"],
    ["the keyring is missing", "ENCRYPTION_KEYS", undefined, "not set"],
    ["a retention is empty", "RETAIN_DELIVERIES_DAYS", "", "not a number of days"],
    ["a retention is a word", "RETAIN_CHANGELOG_DAYS", "forever", "not a number of days"],
    ["a retention is negative", "RETAIN_AUDIT_DAYS", "-30000", "not a number of days"],
    ["a retention has a unit", "RETAIN_DELIVERIES_DAYS", "30 days", "not a number of days"],
    ["a retention is a fraction", "RETAIN_DELIVERIES_DAYS", "0.5", "not a number of days"],
    ["every origin is allowed", "CORS_ORIGINS", "*", "Entry 1 is not an origin"],
    ["every subdomain is allowed", "CORS_ORIGINS", "https://*.example.org", "Entry 1"],
    ["an origin has a path", "CORS_ORIGINS", "https://a.example.org/app", "without a path"],
    ["an origin ends with a slash", "CORS_ORIGINS", "https://a.example.org/", "a slash at the end"],
    ["an origin has upper case", "CORS_ORIGINS", "https://A.example.org", "lower case"],
    ["an origin has the default port", "CORS_ORIGINS", "https://a.example.org:443", "default port"],
    ["an origin has a user name", "CORS_ORIGINS", "https://a@b.example.org", "Entry 1"],
    ["an origin is only a host", "CORS_ORIGINS", "console.example.org", "Entry 1"],
    ["the origin of files is allowed", "CORS_ORIGINS", "null", "Entry 1"],
    ["an origin has another scheme", "CORS_ORIGINS", "ftp://a.example.org", "Entry 1"],
    ["there is a comma too many", "CORS_ORIGINS", "https://a.example.org,", "Entry 2"],
    [
      "a second origin is insecure",
      "CORS_ORIGINS",
      "https://a.example.org, http://b.org",
      "Entry 2",
    ],
    ["an origin is that of local development", "CORS_ORIGINS", "http://localhost:1", "not https:"],
    ["an identity provider has no client", "OIDC_CLIENT_ID", "", "It is not set"],
    ["a client has no identity provider", "OIDC_ISSUER", "", "It is not set"],
    ["an issuer is at http", "OIDC_ISSUER", "http://id.example.com", "no https: URL"],
    ["an issuer is local", "OIDC_ISSUER", "http://localhost:9000", "no https: URL"],
    ["an issuer has a query", "OIDC_ISSUER", "https://id.example.com?x=1", "no https: URL"],
    ["an issuer is no URL", "OIDC_ISSUER", "id.example.com", "no https: URL"],
    ["a retention is beyond a century", "RETAIN_AUDIT_DAYS", "36501", "not a number of days"],
  ])("%s", async (_, name, value, problem) => {
    const deployment = new Deployment({ [name]: value });
    const { status, body, text } = await deployment.health();
    expect([status, body.code]).toEqual([500, "internal"]);
    const refused = [{ name, message: expect.stringContaining(problem) }];
    expect(body.cause.refused_settings).toEqual(refused);
    expect(body.cause).toMatchObject({ missing_tables: [], database: "ok" });
    const callers = await deployment.everyCaller();
    for (const reply of callers) expectOnlyRequestId(reply);
    expect(deployment.refusals.map(({ level, fields }) => ({ level, ...fields }))).toEqual(
      callers.map((reply) => ({
        level: "error",
        request_id: reply.headers.get("x-request-id"),
        settings: refused,
      })),
    );
    if (value?.trim()) expect(text + JSON.stringify(deployment.logged)).not.toContain(value.trim());
  });
});

describe("a deployment works", () => {
  it.each<[string, Bindings]>([
    ["with secrets of 32 characters", { BOOTSTRAP_TOKEN: HEX, LEASE_SECRET: HEX }],
    ["with a line break after a secret", { LEASE_SECRET: `${HEX}\n` }],
    [
      "with a keyring of several keys",
      { ENCRYPTION_KEYS: `k2:${GOOD_KEY}, ${env.ENCRYPTION_KEYS}` },
    ],
    ["without an origin", { CORS_ORIGINS: " " }],
    ["without the setting for origins", { CORS_ORIGINS: undefined }],
    ["without an identity provider", { OIDC_ISSUER: "", OIDC_CLIENT_ID: "" }],
    ["with an issuer that has a path", { OIDC_ISSUER: "https://id.example.com/realms/acme" }],
    ["with origins", { CORS_ORIGINS: "https://a.example.org,https://[2001:db8::1]:8443" }],
  ])("%s", async (_, settings) => {
    const deployment = new Deployment(settings);
    expect((await deployment.health()).body.refused_settings).toEqual([]);
    expect((await deployment.projects()).status).toBe(200);
    expect(deployment.refusals).toEqual([]);
  });

  it("and checks its secrets once, however many requests it gets", async () => {
    let reads = 0;
    const bindings = { ...env } as unknown as Env;
    const token = env.BOOTSTRAP_TOKEN;
    Object.defineProperty(bindings, "BOOTSTRAP_TOKEN", {
      get: () => {
        reads += 1;
        return token;
      },
    });
    const app = createApp({ log: () => undefined });
    for (let sent = 0; sent < 3; sent += 1) {
      const caller = world.client.via((request) =>
        app.fetch(request, bindings, createExecutionContext()),
      );
      expect((await caller.get("/v1/projects")).status).toBe(200);
    }
    expect(reads).toBe(1);
  });
});

describe("a deployment that allows insecure webhooks", () => {
  const settings = { ALLOW_INSECURE_WEBHOOKS: "true" };

  it.each([
    "https://longshore.example.workers.dev",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://10.0.0.1:8787",
    "http://0.0.0.0:8787",
    "http://[::2]:8787",
    "http://notlocalhost",
  ])("refuses every request to %s", async (origin) => {
    const deployment = new Deployment(settings, origin);
    const { status, body } = await deployment.health();
    expect(status).toBe(500);
    expect(body.cause.refused_settings).toEqual([
      { name: "ALLOW_INSECURE_WEBHOOKS", message: expect.stringContaining("Set it to false.") },
    ]);
    for (const reply of await deployment.everyCaller()) expectOnlyRequestId(reply);
    expect(JSON.stringify(deployment.refusals)).toContain("ALLOW_INSECURE_WEBHOOKS");
    const safe = new Deployment({ ALLOW_INSECURE_WEBHOOKS: "false" }, origin);
    expect((await safe.projects()).status).toBe(200);
  });

  it.each([
    "http://localhost:8787",
    "http://LOCALHOST:8787",
    "http://longshore.localhost:8787",
    "http://localhost.:8787",
    "http://127.0.0.1:8787",
    "http://127.9.9.9",
    "http://[::1]:8787",
  ])("works at %s", async (origin) => {
    const deployment = new Deployment(settings, origin);
    expect((await deployment.health()).status).toBe(200);
    expect((await deployment.projects()).status).toBe(200);
    expect(deployment.refusals).toEqual([]);
  });

  it("works with the origins of local pages, and with no other insecure origin", async () => {
    const at = (CORS_ORIGINS: string) =>
      new Deployment({ ...settings, CORS_ORIGINS }, "http://localhost:8787").health();
    const allowed = ["http://localhost:5173", "http://127.0.0.1:5173", "http://a.localhost"];
    for (const origin of allowed) expect((await at(origin)).status).toBe(200);
    const refused = ["http://10.0.0.1:5173", "http://localhost.example.com", "http://a.test"];
    for (const origin of refused) expect((await at(origin)).status).toBe(500);
  });
});

describe("the queue and the schedule", () => {
  it("send nothing while a secret is refused, and send everything once it is replaced", async () => {
    await clearOutbox();
    const harness = new DeliveryHarness(() => new Response(null, { status: 204 }));
    const project = await newProject(world.client);
    const [id = ""] = await insertDeliveries(
      project,
      await insertIntegration(project),
      harness.now,
    );
    harness.bindings = { LEASE_SECRET: "change-me-too" };
    harness.enqueue([id]);
    await harness.runUntil(harness.now + 5 * MINUTE);
    expect(harness.received).toEqual([]);
    expect(await stored(id)).toMatchObject({ status: "pending", attempts: 0 });
    const refusals = harness.logged.filter((line) => line.includes("settings.refused"));
    expect(refusals.length).toBeGreaterThan(1);
    for (const line of refusals) expect(line).toContain("LEASE_SECRET");
    expect(harness.logged.join()).not.toContain("change-me-too");
    harness.bindings = {};
    await harness.runUntil(harness.now + 5 * MINUTE);
    expect(harness.received.length).toBe(1);
    expect((await stored(id)).status).toBe("succeeded");
  });
});

describe("values that were sealed with the sample key", () => {
  it("are readable after they are rotated to a new key and the sample key is removed", async () => {
    const project = await newProject(world.client);
    const path = `/v1/environments/${project.default_environment_id}/variables`;
    const sealing = env.ENCRYPTION_KEYS;
    const made = await world.client.post(path, {
      name: "GREETING",
      storage_method: "string",
      value: "hello",
    });
    const db = drizzle(env.DB);
    const rotate = async (keyring: string) => {
      const cipher = await Cipher.of(keyring);
      for (const column of SEALED_COLUMNS) {
        await rotateBatch(db, cipher, column, { after: "", size: 50 });
      }
    };
    await rotate(`sample:${SAMPLE_KEY},${sealing}`);
    const value = `/v1/variables/${made.body.id}/value`;
    const read = async (ENCRYPTION_KEYS: string) =>
      world.client.via(new Deployment({ ENCRYPTION_KEYS }).fetch).get(value);
    expectOnlyRequestId(await read(`sample:${SAMPLE_KEY}`));
    await rotate(`k2:${GOOD_KEY},sample:${SAMPLE_KEY}`);
    expect((await read(`k2:${GOOD_KEY}`)).body).toEqual({ value: "hello" });
    await rotate(`${sealing},k2:${GOOD_KEY}`);
  });
});

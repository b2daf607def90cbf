import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { issueCredential } from "../../src/auth/credentials.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { Client, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import {
  addSessions,
  join,
  newKey,
  newProject,
  newWorld,
  sessionIn,
  signIn,
  type World,
} from "../support/world.ts";

const MINUTE_MS = 60_000;
const SAME_ORIGIN = { "sec-fetch-site": "same-origin", accept: "text/html" };
const FORM = { "content-type": "application/x-www-form-urlencoded", ...SAME_ORIGIN };

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

const browser = new Client(undefined);

async function newLink(client: Client): Promise<{ path: string; expiresAt: number }> {
  const { status, body, text } = await client.post("/v1/sign-in-links", undefined);
  if (status !== 201) throw new Error(`The link was not created: ${text}`);
  return { path: new URL(body.url).pathname, expiresAt: Date.parse(body.expires_at) };
}

/** Pages of errors are not in the OpenAPI document, so the replies are not checked against it. */
async function send(by: Client, method: string, path: string, headers: Record<string, string>) {
  const response = await by.raw(method, path, headers);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const open = (path: string, by = browser) => send(by, "GET", path, { accept: "text/html" });
const press = (path: string, by = browser, headers: Record<string, string> = FORM) =>
  send(by, "POST", path, headers);
const sessionsOf = async ({ membershipId }: { membershipId: string }) => {
  const select = env.DB.prepare("select * from sessions where membership_id = ?");
  return (await select.bind(membershipId).all()).results;
};

describe("a sign-in link", () => {
  it("is created with a key, for 10 minutes, at the origin of the request", async () => {
    const now = Date.now();
    const { fetch } = new Instrumented({ clock: { now: () => now } });
    const { body } = await world.client.via(fetch).post("/v1/sign-in-links", undefined);
    expect(body.url).toMatch(/^https:\/\/longshore\.test\/sign-in\/lsl_\w{72}$/);
    expect(Date.parse(body.expires_at)).toBe(now + 10 * MINUTE_MS);
    expect(Object.keys(body)).toEqual(["url", "expires_at"]);
    const { results } = await env.DB.prepare("select * from sign_in_links").all();
    expect(JSON.stringify(results)).not.toContain(body.url.slice(-49, -6));
  });

  it("shows who signs in where, as often as it is opened, and changes nothing", async () => {
    const person = await join(world, "admin");
    const { path } = await newLink(person.client);
    for (const method of ["GET", "HEAD", "GET"]) {
      const reply = await browser.request(method, path, undefined, { accept: "text/html" });
      expect(reply.status).toBe(200);
      expect(reply.headers.has("set-cookie")).toBe(false);
    }
    const { text, headers } = await open(path);
    for (const shown of ["Sign in to Test", "Molly Member", "admin", '<form method="post">']) {
      expect(text).toContain(shown);
    }
    expect(text).not.toContain("<script");
    expect(text).not.toContain("lsl_");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("strict-origin");
    const policy = String(headers.get("content-security-policy"));
    for (const rule of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'"]) {
      expect(policy).toContain(rule);
    }
    expect(await sessionsOf(person)).toEqual([]);
    expect((await press(path)).status).toBe(303);
  });

  it("escapes the names on its page", async () => {
    const other = await newWorld();
    const name = '<img src=x onerror="alert(1)">';
    await other.client.patch(`/v1/orgs/${other.id}`, { name });
    const { text } = await open((await newLink(other.client)).path);
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;img src=x");
  });

  it("signs in once with its button, with what its key may do", async () => {
    const project = await newProject(world.client);
    const scopes = ["projects:read", "keys:write"] as const;
    const key = await newKey(world, { role: "admin", scopes, projectIds: [project.id] });
    const { path } = await newLink(key.client);
    const reply = await press(path);
    expect([reply.status, reply.headers.get("location"), reply.text]).toEqual([
      303,
      "/console/",
      "",
    ]);
    expect(reply.headers.get("set-cookie")).toMatch(
      /^__Host-longshore=lss_\w{72}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
    );
    const session = Client.withSession(sessionIn(reply));
    const { credential } = (await session.get("/v1/whoami")).body;
    expect(credential).toMatchObject({
      type: "session",
      key_id: key.keyId,
      role: "admin",
      scopes,
      project_ids: [project.id],
    });
    const { data } = (await session.get("/v1/sessions")).body;
    const own = data.find(({ current }: Parsed) => current);
    expect(own.source).toBe("sign_in_link");
    const again = await press(path);
    expect([again.status, again.headers.has("set-cookie")]).toEqual([404, false]);
    const log = await world.client.get(`/v1/orgs/${world.id}/audit-log?target=${own.id}`);
    expect(log.body.data).toMatchObject([
      {
        action: "session.created",
        actor: { type: "sign_in_link", created_by: { key_id: key.keyId } },
      },
    ]);
  });

  it("starts exactly one session when it is used concurrently", async () => {
    const person = await join(world);
    const { path } = await newLink(person.client);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => press(path, new Client(undefined, new Instrumented().fetch))),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([303, ...Array(7).fill(404)]);
    expect(replies.filter(({ headers }) => headers.has("set-cookie"))).toHaveLength(1);
    expect(await sessionsOf(person)).toHaveLength(1);
  });

  it("always starts a new session, whatever cookie the request has", async () => {
    const { client } = await signIn(world);
    const reply = await press((await newLink(world.client)).path, client);
    expect(reply.status).toBe(303);
    expect(sessionIn(reply)).not.toBe(client.session);
    expect((await client.get("/v1/orgs")).status).toBe(200);
  });

  it("that is used, expired, foreign, mangled or of a revoked key shows one page", async () => {
    let now = 0;
    const worker = new Instrumented({ clock: { now: () => now } });
    const late = new Client(undefined, worker.fetch);
    const used = await newLink(world.client);
    await press(used.path);
    const revoked = await newKey(world, { role: "admin" });
    const orphaned = await newLink(revoked.client);
    await world.client.delete(`/v1/orgs/${world.id}/api-keys/${revoked.keyId}`);
    const expired = await newLink(world.client);
    now = expired.expiresAt;
    const foreign = (await issueCredential("lsl", newId(systemClock))).key;
    const session = (await signIn(world)).client.session;
    const paths = [
      used.path,
      orphaned.path,
      `/sign-in/${foreign}`,
      `${expired.path}x`,
      expired.path.slice(0, -1),
      `/sign-in/${session}`,
      `/sign-in/${world.client.key}`,
      "/sign-in/%E0%A4%A",
    ];
    const pages = [await open(expired.path, late), await press(expired.path, late)];
    for (const path of paths) pages.push(await open(path), await press(path));
    for (const { status, text, headers } of pages) {
      expect(status).toBe(404);
      expect(headers.has("set-cookie")).toBe(false);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(text).toContain("<h1>This link no longer works</h1>");
      expect(text).toContain("<code>longshore console</code>");
      expect(text).toContain("Ask them for a new one.");
      expect(text).toContain('<a href="/console/">');
      expect(text).not.toContain("/v1/sign-in-links");
    }
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    const asJson = await browser.get(used.path);
    expect(asJson.body.code).toBe("not_found");
    expect(asJson.body.message).toContain("Create another with POST /v1/sign-in-links");
    now -= 1;
    expect((await open(expired.path, late)).status).toBe(200);
  });

  it("signs in from its own page only", async () => {
    const { path } = await newLink(world.client);
    const others: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { origin: "https://evil.example" },
      { origin: "https://a.longshore.test" },
      { origin: "null" },
      {},
    ];
    for (const headers of others) {
      const reply = await press(path, browser, { accept: "text/html", ...headers });
      expect([reply.status, reply.headers.has("set-cookie")]).toEqual([403, false]);
      expect(reply.text).toContain("You are not signed in");
      expect(reply.text).not.toContain("longshore console");
    }
    expect((await press(path, browser, { origin: "https://longshore.test" })).status).toBe(303);
  });

  it("leaves no secret in the log and in the database, nor does its session or its key", async () => {
    const worker = new Instrumented();
    const other = await newWorld();
    const visitor = new Client(undefined, worker.fetch);
    const signedIn = await visitor.post("/v1/sessions", { api_key: other.client.key });
    const session = sessionIn(signedIn);
    const caller = Client.withSession(session).via(worker.fetch);
    const headers = { "idempotency-key": crypto.randomUUID() };
    const { body } = await caller.request("POST", "/v1/sign-in-links", undefined, headers);
    const { pathname } = new URL(body.url);
    await open(pathname, visitor);
    const used = await press(pathname, visitor);
    await press(pathname, visitor);
    await caller.delete("/v1/sessions/current");
    await caller.get("/v1/orgs");
    const texts = [JSON.stringify(worker.logged)];
    for (const table of ["api_keys", "audit_log", "idempotency_records", "sessions"]) {
      const select = env.DB.prepare(`select * from ${table} where organization_id = ?`);
      const { results } = await select.bind(other.id).all();
      expect(results.length).toBeGreaterThan(0);
      texts.push(JSON.stringify(results));
    }
    expect(texts[0]).toContain("/sign-in/{token}");
    const credentials = [session, sessionIn(used), pathname.split("/").at(-1), other.client.key];
    const secrets = credentials.map((text) => String(text).split("_")[2]);
    expect(new Set(secrets).size).toBe(4);
    for (const text of texts) {
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });

  it("redirects to this origin, whatever the request asks for", async () => {
    const { path } = await newLink(world.client);
    const query = "?next=https://evil.example&redirect=//evil.example&return_to=/%5Cevil.example";
    const reply = await press(`${path}${query}`);
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/console/"]);
  });

  it("is limited to 10 unused ones of a key", async () => {
    const { client } = await newKey(world);
    const links = [];
    for (let count = 0; count < 10; count += 1) links.push(await newLink(client));
    const full = await client.post("/v1/sign-in-links", undefined);
    expect(full.body.message).toContain("10 unused sign-in links of a key");
    await press(String(links[3]?.path));
    expect((await client.post("/v1/sign-in-links", undefined)).status).toBe(201);
    expect((await (await newKey(world)).client.post("/v1/sign-in-links", undefined)).status).toBe(
      201,
    );
  });

  it("does not count toward the limit of its key from the millisecond at which it expires", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const caller = (await newKey(world)).client.via(worker.fetch);
    const { body } = await caller.post("/v1/sign-in-links", undefined);
    now += 1;
    for (let count = 1; count < 10; count += 1) await newLink(caller);
    const statuses = [];
    for (now = Date.parse(body.expires_at) - 1; statuses.length < 2; now += 1) {
      statuses.push((await caller.post("/v1/sign-in-links", undefined)).status);
    }
    expect(statuses).toEqual([409, 201]);
  });

  it("starts no session beside 100 of its membership, of which the ended ones do not count", async () => {
    const other = await newWorld();
    const { path } = await newLink(other.client);
    await addSessions(other, 100);
    expect((await press(path)).status).toBe(409);
    await env.DB.prepare("update sessions set expires_at = 5 where membership_id = ?")
      .bind(other.membershipId)
      .run();
    expect((await press(path)).status).toBe(303);
    expect(await sessionsOf(other)).toHaveLength(1);
  });
});

describe("a sign-in link of a session", () => {
  it("gives a session that lasts no longer, and ends unused with its session", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const { client, sessionId } = await signIn(world);
    const caller = client.via(worker.fetch);
    const visitor = new Client(undefined, worker.fetch);
    now += 11 * 60 * MINUTE_MS;
    const [used, unused] = [await newLink(caller), await newLink(caller)];
    const { body } = await world.client.get("/v1/sessions?limit=240");
    const own = body.data.find(({ id }: Parsed) => id === sessionId);
    const other = Client.withSession(sessionIn(await press(used.path, visitor))).via(worker.fetch);
    expect((await other.get("/v1/whoami")).body.credential.expires_at).toBe(own.expires_at);
    expect((await caller.delete("/v1/sessions/current")).status).toBe(204);
    expect((await press(unused.path, visitor)).status).toBe(404);
    expect((await other.get("/v1/orgs")).status).toBe(200);
  });

  it("does not sign in once its session has reached its last day", async () => {
    let now = Date.now();
    const worker = new Instrumented({ clock: { now: () => now } });
    const person = await join(world);
    const { client, sessionId } = await signIn(person);
    await env.DB.prepare("update sessions set expires_at = ? where id = ?")
      .bind(now + 5 * MINUTE_MS, sessionId)
      .run();
    const links = [await newLink(client), await newLink(client)];
    const ofKey = await newLink(person.client);
    const visitor = new Client(undefined, worker.fetch);
    now += 5 * MINUTE_MS - 1_000;
    expect((await press(String(links[0]?.path), visitor)).status).toBe(303);
    now += 1_000;
    const late = await press(String(links[1]?.path), visitor);
    expect([late.status, late.headers.has("set-cookie")]).toEqual([404, false]);
    expect((await open(String(links[1]?.path), visitor)).status).toBe(404);
    expect((await press(ofKey.path, visitor)).status).toBe(303);
  });
});

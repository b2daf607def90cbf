import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sessionCookie } from "../../src/http/session-cookie.ts";
import worker from "../../src/index.ts";
import type { Client, Parsed } from "../support/client.ts";
import { newAddress } from "../support/client.ts";
import { newKey, newProject, newWorld, signIn, type World } from "../support/world.ts";

const HTTPS = "https://longshore.test";

let world: World;
let session: Client;
let secret: string;

beforeAll(async () => {
  world = await newWorld();
  session = (await signIn(await newKey(world))).client;
  secret = String(session.session);
});

interface Sent {
  method?: string;
  origin?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function send({ method = "GET", origin = HTTPS, path = "/v1/orgs", headers, body }: Sent) {
  const request = new Request(`${origin}${path}`, {
    method,
    headers: { "cf-connecting-ip": newAddress(), ...headers },
    ...(body !== undefined && { body }),
  });
  const response = await worker.fetch(new Request(request), env, createExecutionContext());
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson && text ? JSON.parse(text) : undefined) as Parsed,
  };
}

const statusOf = async (cookie: string, origin?: string) =>
  (await send({ ...(origin && { origin }), headers: { cookie } })).status;

describe("the cookie of a session", () => {
  it("has a prefix and Secure at https, and the port in its name at http on loopback hosts", () => {
    const rest = "Path=/; Max-Age=60";
    expect(sessionCookie("https://example.com/a", "s", 60)).toBe(
      `__Host-longshore=s; ${rest}; Secure; HttpOnly; SameSite=Lax`,
    );
    const atLoopback = (port: string) => `longshore-${port}=s; ${rest}; HttpOnly; SameSite=Lax`;
    expect(sessionCookie("http://localhost:8787/", "s", 60)).toBe(atLoopback("8787"));
    expect(sessionCookie("http://127.0.0.1:9000/", "s", 60)).toBe(atLoopback("9000"));
    expect(sessionCookie("http://[::1]/", "s", 60)).toBe(atLoopback("80"));
  });

  it("opens the API at its own origin only: not at another port, and never at http on another host", async () => {
    const secure = `__Host-longshore=${secret}`;
    const local = `longshore-8787=${secret}`;
    expect(await statusOf(secure)).toBe(200);
    expect(await statusOf(`theme=dark; ${secure}; a=b`)).toBe(200);
    expect(await statusOf(local, "http://localhost:8787")).toBe(200);
    expect(await statusOf(local, "http://127.0.0.1:8787")).toBe(200);
    expect(await statusOf(local, "http://localhost:8788")).toBe(401);
    expect(await statusOf(local)).toBe(401);
    expect(await statusOf(secure, "http://localhost:8787")).toBe(401);
    expect(await statusOf(secure, "http://localhost")).toBe(401);
  });

  it.each([
    ["is malformed", "__Host-longshore=nonsense"],
    ["is empty", "__Host-longshore="],
    ["is twice in the request", "__Host-longshore=SECRET; __Host-longshore=SECRET"],
    ["comes with another of its name", "__Host-longshore=tossed; __Host-longshore=SECRET"],
    ["comes before another of its name", "__Host-longshore=SECRET; __Host-longshore=tossed"],
    ["has an API key", "__Host-longshore=KEY"],
  ])("that %s is refused, with what to do", async (_, template) => {
    const cookie = template
      .replaceAll("SECRET", secret)
      .replaceAll("KEY", String(world.client.key));
    const { status, body } = await send({ headers: { cookie } });
    expect([status, body.code]).toEqual([401, "unauthenticated"]);
    expect(body.message).toMatch(/Sign in again, or send a valid API key/);
  });

  it.each([
    "__host-longshore=SECRET",
    "longshore=SECRET",
    "__Host-longshore-2=SECRET",
    '__Host-longshore ="SECRET"',
    "\u00a0__Host-longshore=SECRET",
    "__Secure-longshore=SECRET",
  ])("is none if its name is not exact: %s", async (template) => {
    const { status, body } = await send({
      headers: { cookie: template.replaceAll("SECRET", secret) },
    });
    expect([status, body.message]).toEqual([401, "Send a valid API key in the x-api-key header."]);
  });

  it("yields to an API key, also to one that is not valid", async () => {
    const { client } = await newKey(world, { scopes: ["projects:read"] });
    const cookie = `__Host-longshore=${secret}`;
    const both = (key: string) =>
      send({ path: "/v1/whoami", headers: { cookie, "x-api-key": key } });
    expect((await both(String(client.key))).body.credential.type).toBe("api_key");
    for (const key of ["", "nonsense", secret]) {
      const { status, body } = await both(key);
      expect([status, body.message]).toEqual([
        401,
        "Send a valid API key in the x-api-key header.",
      ]);
    }
  });

  it("opens no route of runners, and a secret is no API key", async () => {
    const { status } = await send({
      path: "/v1/runner/attempts",
      headers: { cookie: `__Host-longshore=${secret}`, "sec-fetch-site": "same-origin" },
    });
    expect(status).toBe(401);
    expect((await send({ headers: { "x-api-key": secret } })).status).toBe(401);
  });
});

/** By the header that a browser sends. */
const REFUSED: [string, Record<string, string>][] = [
  ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
  ["a subdomain or another port", { "sec-fetch-site": "same-site" }],
  [
    "another port, with the same origin in another header",
    { "sec-fetch-site": "same-site", origin: HTTPS },
  ],
  ["the address bar", { "sec-fetch-site": "none" }],
  ["an unknown place", { "sec-fetch-site": "same-origin, cross-site" }],
  ["another origin, without fetch metadata", { origin: "https://evil.example" }],
  ["a subdomain, without fetch metadata", { origin: "https://a.longshore.test" }],
  ["another port, without fetch metadata", { origin: "https://longshore.test:8443" }],
  ["the http page of the host", { origin: "http://longshore.test" }],
  ["a sandboxed page", { origin: "null" }],
  ["a program that sends neither header", {}],
];

describe("a request with the cookie", () => {
  const cookie = () => ({ cookie: `__Host-longshore=${secret}` });
  const json = { "content-type": "application/json" };

  it.each(REFUSED)("that changes something is refused from %s", async (_, headers) => {
    const project = await newProject((await newKey(world)).client);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const path = method === "POST" ? "/v1/projects" : `/v1/projects/${project.id}`;
      const body = method === "DELETE" ? {} : { body: JSON.stringify({ name: "taken" }) };
      const sent = { method, path, headers: { ...cookie(), ...json, ...headers }, ...body };
      const reply = await send(sent);
      expect([reply.status, reply.body.code], method).toEqual([403, "forbidden"]);
      expect(reply.body.message).toContain("Sec-Fetch-Site");
      expect(reply.headers.has("access-control-allow-credentials")).toBe(false);
    }
    const after = await (await newKey(world)).client.get(`/v1/projects/${project.id}`);
    expect(after.body.name).toBe(project.name);
  });

  it.each([
    ["of another origin", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
    ["of a subdomain", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" }],
    ["of another origin, without fetch metadata", { origin: "https://evil.example" }],
    ["without Origin and fetch metadata", {}],
  ])("that a form %s sends is refused, whatever its encoding", async (_, headers) => {
    const types = [
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/plain",
    ];
    for (const type of types) {
      const sent = { method: "POST", path: "/v1/sign-in-links", body: "{}" };
      const reply = await send({
        ...sent,
        headers: { ...cookie(), ...headers, "content-type": type },
      });
      expect([reply.status, reply.body.code]).toEqual([403, "forbidden"]);
    }
  });

  it.each([
    ["this origin", { "sec-fetch-site": "same-origin" }],
    ["this origin, without fetch metadata", { origin: HTTPS }],
  ])("that changes something is admitted from %s", async (_, headers) => {
    const body = JSON.stringify({ name: crypto.randomUUID() });
    const sent = { method: "POST", path: "/v1/projects", body };
    expect((await send({ ...sent, headers: { ...cookie(), ...json, ...headers } })).status).toBe(
      201,
    );
  });

  it.each([
    ["GET", { "x-http-method-override": "DELETE" }],
    ["HEAD", { "x-http-method": "DELETE" }],
    ["POST", { "x-http-method-override": "GET" }],
    ["PROPFIND", {}],
    ["OPTIONS", { "access-control-request-method": "DELETE" }],
  ])("of another site has its own method: %s", async (method, headers) => {
    const { client } = await newKey(world);
    const project = await newProject(client);
    const isRead = ["GET", "HEAD"].includes(method);
    // A GET refuses parameters that it does not have.
    const path = `/v1/projects/${project.id}${isRead ? "" : "?_method=DELETE"}`;
    const from = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const reply = await send({ method, path, headers: { ...cookie(), ...from, ...headers } });
    expect(reply.status).toBe(isRead ? 200 : method === "OPTIONS" ? 501 : 403);
    expect(reply.headers.has("access-control-allow-origin")).toBe(false);
    expect((await client.get(`/v1/projects/${project.id}`)).status).toBe(200);
  });

  it("that is refused does not become admitted by an invalid session", async () => {
    const headers = { cookie: "__Host-longshore=nonsense", "sec-fetch-site": "cross-site" };
    expect((await send({ method: "DELETE", path: "/v1/account", headers })).status).toBe(403);
  });

  it("that is refused counts toward the limit of its client address", async () => {
    const address = newAddress();
    const headers = { ...cookie(), "sec-fetch-site": "cross-site", "cf-connecting-ip": address };
    const statuses = new Set<number>();
    for (let sent = 0; sent < 310 && !statuses.has(429); sent += 1) {
      statuses.add((await send({ method: "POST", path: "/v1/projects", headers })).status);
    }
    expect([...statuses]).toEqual([403, 429]);
  });

  it("that only reads is admitted from a link, unless the read is recorded", async () => {
    const from = (site: string, path: string) =>
      send({ path, headers: { ...cookie(), "sec-fetch-site": site } });
    const log = `/v1/orgs/${world.id}/audit-log/export`;
    for (const site of ["same-origin", "none"]) {
      expect((await from(site, "/v1/orgs")).status).toBe(200);
      expect((await from(site, log)).status).toBe(200);
    }
    for (const site of ["same-site", "cross-site", "same-origin, cross-site"]) {
      expect((await from(site, "/v1/orgs")).status).toBe(200);
      expect((await from(site, log)).status).toBe(403);
      const headers = { ...cookie(), "sec-fetch-site": site };
      expect((await send({ method: "HEAD", path: log, headers })).status).toBe(403);
    }
    const withOrigin = (origin: string) => send({ path: log, headers: { ...cookie(), origin } });
    expect((await withOrigin("https://evil.example")).status).toBe(403);
    expect((await withOrigin(HTTPS)).status).toBe(200);
    expect((await send({ path: log, headers: cookie() })).status).toBe(200);
  });

  it("with a key needs no page of this origin", async () => {
    const headers = { "x-api-key": String((await newKey(world)).client.key), ...cookie(), ...json };
    const body = JSON.stringify({ name: "by a program" });
    const sent = { method: "POST", path: "/v1/projects", body };
    expect((await send({ ...sent, headers: { ...headers, ...REFUSED[0]?.[1] } })).status).toBe(201);
  });
});

describe("signing in", () => {
  const signInWith = (headers: Record<string, string>, contentType = "application/json") =>
    send({
      method: "POST",
      path: "/v1/sessions",
      headers: { "content-type": contentType, ...headers },
      body: JSON.stringify({ api_key: world.client.key }),
    });

  const withHeaders = REFUSED.filter(([, headers]) => Object.keys(headers).length > 0);

  it.each(withHeaders)("with a key is refused from %s", async (_, headers) => {
    const { status, headers: replied } = await signInWith(headers);
    expect([status, replied.has("set-cookie")]).toEqual([403, false]);
  });

  it("with a key is admitted from a program and from this origin, as JSON only", async () => {
    expect((await signInWith({})).status).toBe(201);
    expect((await signInWith({ origin: HTTPS })).status).toBe(201);
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      expect((await signInWith({ origin: HTTPS }, type)).body.code).toBe("bad_input");
    }
  });

  it("sets the local cookie at localhost", async () => {
    const { headers } = await send({
      method: "POST",
      origin: "http://localhost:8787",
      path: "/v1/sessions",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ api_key: world.client.key }),
    });
    expect(headers.get("set-cookie")).toMatch(/^longshore-8787=lss_\w{72}; (?!.*Secure)/);
  });
});

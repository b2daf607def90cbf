import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { Client, type Reply } from "../support/client.ts";
import { openApi, operations } from "../support/contract.ts";
import { newProject, newWorld, signIn, type World } from "../support/world.ts";

const CONSOLE = "https://console.example.com";
const OPERATIONS = "https://ops.example.com:8443";
const SETTING = `${CONSOLE}, ${OPERATIONS}`;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

/** A deployment with this setting. */
function deployment(CORS_ORIGINS: string, bindings: object = {}) {
  const app = createApp({ log: () => undefined });
  const all = { ...env, CORS_ORIGINS, ...bindings } as unknown as Env;
  return (request: Request) => app.fetch(request, all, createExecutionContext());
}

const anonymous = (bindings?: object) => new Client(undefined, deployment(SETTING, bindings));
const preflightOf = (method: string, origin = CONSOLE) => ({
  origin,
  "access-control-request-method": method,
  "access-control-request-headers": "content-type,x-api-key",
});
const preflight = (client: Client, path: string, method: string, origin?: string) =>
  client.request("OPTIONS", path, undefined, preflightOf(method, origin));

const corsHeadersOf = ({ headers }: Reply) =>
  [...headers].filter(([name]) => name.startsWith("access-control-"));

function expectShared(reply: Reply, origin = CONSOLE): void {
  expect(reply.headers.get("access-control-allow-origin")).toBe(origin);
  expect(reply.headers.get("vary")).toBe("Origin");
  expect(reply.headers.has("access-control-allow-credentials")).toBe(false);
}

describe("a preflight request of an allowed origin", () => {
  it.each([
    ["/v1/projects", "POST"],
    ["/v1/projects/1234", "DELETE"],
    ["/v1/bootstrap", "POST"],
    ["/v1/nowhere", "GET"],
    ["/v1/projects", "DELETE"],
    ["/openapi.json", "GET"],
    ["/health", "GET"],
  ])("to %s for %s needs no key, no database and no object", async (path, method) => {
    const unused = new Proxy({}, { get: (_, name) => expect.fail(`${String(name)} is used`) });
    const client = anonymous({ DB: unused, RATE_LIMITER: unused, ORGANIZATION_LIMITER: unused });
    const reply = await preflight(client, path, method);
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expectShared(reply);
    expect(reply.headers.get("access-control-max-age")).toBe("7200");
  });

  it("allows every method and every header of the document, except for runners", async () => {
    const { headers } = await preflight(anonymous(), "/v1/projects", "PATCH", OPERATIONS);
    expect(headers.get("access-control-allow-origin")).toBe(OPERATIONS);
    const listed = (name: string) => headers.get(name)?.split(", ") ?? [];
    const methods = new Set(operations.map(({ method }) => method));
    expect(new Set(listed("access-control-allow-methods"))).toEqual(methods.add("HEAD"));
    const callers = operations.filter(({ path }) => !path.startsWith("/v1/runner/"));
    const sent = callers.flatMap(({ parameters = [] }) =>
      parameters.filter((each) => String(each.in) === "header").map(({ name }) => name),
    );
    const known = [...sent, "x-api-key", "content-type", "x-d1-bookmark", "authorization"];
    expect(new Set(listed("access-control-allow-headers"))).toEqual(
      new Set(known.map((name) => name.toLowerCase())),
    );
  });

  it("is limited by client address", async () => {
    const ADDRESS_LIMITER = { limit: async () => ({ success: false }) };
    const reply = await preflight(anonymous({ ADDRESS_LIMITER }), "/v1/projects", "POST");
    expect(reply.status).toBe(429);
  });
});

describe("an OPTIONS request", () => {
  const client = () => world.client.via(deployment(SETTING));

  it.each([
    ["of another origin", preflightOf("POST", "https://evil.example.com")],
    ["without an origin", { "access-control-request-method": "POST" }],
    ["that is no preflight request", { origin: CONSOLE }],
  ])("%s is not implemented, or needs a key", async (_, headers) => {
    const reply = await client().request("OPTIONS", "/v1/projects", undefined, headers);
    expect([reply.status, reply.headers.get("allow")]).toEqual([501, "POST, GET, HEAD"]);
    expect(reply.headers.has("access-control-allow-methods")).toBe(false);
    const unknown = await anonymous().request("OPTIONS", "/v1/projects", undefined, headers);
    expect(unknown.status).toBe(401);
  });

  it("is no preflight request while no origin is allowed", async () => {
    const closed = world.client.via(deployment(""));
    const reply = await preflight(closed, "/v1/projects", "POST");
    expect([reply.status, corsHeadersOf(reply)]).toEqual([501, []]);
    expect(reply.headers.has("vary")).toBe(false);
  });
});

describe("a page of an allowed origin", () => {
  it("reads every kind of response", async () => {
    const client = world.client.via(deployment(SETTING));
    const project = await newProject(client);
    const path = `/v1/projects/${project.id}/environments`;
    const send = (method: string, to: string, body?: object, headers: object = {}) =>
      client.request(method, to, body, { origin: CONSOLE, ...headers });
    const created = await send("POST", path, { name: "staging" });
    const one = `/v1/environments/${created.body.id}`;
    const tag = { "if-none-match": String(created.headers.get("etag")) };
    const limited = { ADDRESS_LIMITER: { limit: async () => ({ success: false }) } };
    const origin = { origin: CONSOLE };
    const replies = [
      created,
      await send("GET", one),
      await send("HEAD", one),
      await send("GET", one, undefined, tag),
      await send("DELETE", one),
      await send("POST", path, { name: "" }),
      await anonymous().get(path, origin),
      await send("GET", one),
      await send("POST", path, { name: "production" }),
      await anonymous(limited).get(path, origin),
      await anonymous({ LEASE_SECRET: "" }).get("/health", origin),
      await send("DELETE", "/v1/projects"),
      await anonymous().get("/openapi.json", origin),
    ];
    const statuses = [201, 200, 200, 304, 204, 400, 401, 404, 409, 429, 500, 501, 200];
    expect(replies.map(({ status }) => status)).toEqual(statuses);
    for (const reply of replies) expectShared(reply);
  });

  it("reads every header that the document declares, and Allow", async () => {
    const { headers } = await anonymous().get("/health", { origin: CONSOLE });
    const { headers: declared } = openApi.components as unknown as { headers: object };
    expect(headers.get("access-control-expose-headers")?.split(", ").toSorted()).toEqual(
      [...Object.keys(declared), "Allow"].toSorted(),
    );
  });

  it("reads no page that a person opens", async () => {
    for (const path of ["/", "/docs", "/invitations/1234", "/v1/slack/callback?state=1"]) {
      const reply = await anonymous().get(path, { origin: CONSOLE });
      expect([path, corsHeadersOf(reply)]).toEqual([path, []]);
      const asked = await preflight(anonymous(), path, "GET");
      expect(corsHeadersOf(asked)).toEqual([]);
      expect(asked.status).toBeGreaterThanOrEqual(400);
    }
  });
});

describe("a page of another origin", () => {
  it.each([
    "null",
    "https://console.example.com.evil.test",
    "https://evil.test/https://console.example.com",
    "https://evil-console.example.com",
    "https://a.console.example.com",
    "https://console.example.com.",
    "https://console.example.com:8443",
    "https://ops.example.com",
    "https://CONSOLE.example.com",
    "https://console.example.com/",
    "http://console.example.com",
    "https://console.example.com, https://ops.example.com:8443",
    "console.example.com",
    "*",
    "",
  ])("with the origin %j reads nothing, and caches know that", async (origin) => {
    for (const path of ["/v1/projects", "/openapi.json"]) {
      const reply = await world.client.via(deployment(SETTING)).get(path, { origin });
      expect([reply.status, corsHeadersOf(reply)]).toEqual([200, []]);
      expect(reply.headers.get("vary")).toBe("Origin");
      const asked = await preflight(anonymous(), path, "GET", origin);
      expect(corsHeadersOf(asked)).toEqual([]);
      expect(asked.status).toBeGreaterThanOrEqual(400);
    }
  });

  it("is every page while the setting is empty, blank or refused", async () => {
    for (const setting of ["", " ", "*", "null", `${CONSOLE}/`]) {
      const client = new Client(undefined, deployment(setting));
      for (const origin of [CONSOLE, setting, "null"]) {
        const reply = await client.get("/health", { origin });
        expect(corsHeadersOf(reply)).toEqual([]);
        expect(reply.headers.has("vary")).toBe(false);
      }
    }
  });
});

describe("the cookie of a session", () => {
  it("lets a page of an allowed origin change nothing, and read nothing", async () => {
    const { client } = await signIn(world);
    const caller = new Client(undefined, deployment(SETTING), client.session);
    for (const site of ["same-site", "cross-site"]) {
      const headers = { origin: CONSOLE, "sec-fetch-site": site };
      const written = await caller.raw("POST", "/v1/projects", headers);
      expect(written.status).toBe(403);
      expect(written.headers.has("access-control-allow-credentials")).toBe(false);
      expectShared(await caller.get("/v1/projects", headers));
    }
    const own = { origin: "https://longshore.test", "sec-fetch-site": "same-origin" };
    const written = await caller.request("POST", "/v1/projects", { name: "mine" }, own);
    expect([written.status, corsHeadersOf(written)]).toEqual([201, []]);
  });
});

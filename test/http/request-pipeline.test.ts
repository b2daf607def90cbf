import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import worker from "../../src/index.ts";
import { Client, newAddress, type Parsed } from "../support/client.ts";
import { Instrumented } from "../support/instruments.ts";
import { join, newKey, newProject, newWorld, type World } from "../support/world.ts";

const MEBIBYTE = 1024 * 1024;

let world: World;

beforeAll(async () => {
  world = await newWorld();
});

describe("a body", () => {
  const jsonOf = (bytes: number) => {
    const json = JSON.stringify({ name: "x", description: "" });
    return json.replace('""', `"${"a".repeat(bytes - json.length)}"`);
  };
  const type = { "content-type": "application/json" };
  const post = (body: string) => world.client.request("POST", "/v1/projects", body, type);

  it("of 1 MiB is read, and one that is a byte larger is refused", async () => {
    const whole = await post(jsonOf(MEBIBYTE));
    expect(whole.body.cause.issues[0].path).toBe("description");
    const over = await post(jsonOf(MEBIBYTE + 1));
    expect(over.status).toBe(400);
    expect(over.body.message).toContain("1 MiB");
  });

  it("over 1 MiB without a Content-Length is refused", async () => {
    const chunk = new TextEncoder().encode("a".repeat(MEBIBYTE / 4));
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks += 1;
        if (chunks > 5) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const { client } = await newKey(world);
    const isolate = new Instrumented();
    const response = await isolate.fetch(
      new Request("https://longshore.test/v1/projects", {
        method: "POST",
        headers: { "x-api-key": String(client.key), "cf-connecting-ip": newAddress(), ...type },
        body,
      }),
    );
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("1 MiB");
  });

  /** Sends a body in chunks, and returns the logged events too. */
  const stream = async (body: ReadableStream, headers: Record<string, string> = {}) => {
    const { client } = await newKey(world);
    const isolate = new Instrumented();
    const request = new Request("https://longshore.test/v1/projects", {
      method: "POST",
      headers: {
        "x-api-key": String(client.key),
        "cf-connecting-ip": newAddress(),
        ...type,
        ...headers,
      },
      body,
    });
    const response = await isolate.fetch(request);
    const reply = JSON.parse(await response.text());
    const events = isolate.logged.map(({ event }) => event);
    return { status: response.status, code: reply.code, message: reply.message, events };
  };

  it.each([
    ["in chunks", {}],
    ["with a Content-Length", { "content-length": "40" }],
  ])("that breaks off %s is bad input", async (_, headers) => {
    const parts = ['{"name":"x",', '"description":'];
    const body = new ReadableStream({
      pull(controller) {
        const part = parts.shift();
        if (part) controller.enqueue(new TextEncoder().encode(part));
        else controller.error(new Error("The connection was lost"));
      },
    });
    expect(await stream(body, headers)).toEqual({
      status: 400,
      code: "bad_input",
      message: "The body broke off before its end. Send it again.",
      events: ["request"],
    });
  });

  it("that is not UTF-8 is bad input, and one with a byte order mark is read", async () => {
    const post = async (bytes: number[]) => {
      const { client } = await newKey(world);
      const isolate = new Instrumented();
      const caller = client.via(isolate.fetch);
      const json = [...new TextEncoder().encode('{"name":"a'), ...bytes];
      const body = new Uint8Array([...json, ...new TextEncoder().encode('"}')]);
      const reply = await caller.request("POST", "/v1/projects", body, type);
      return { reply, events: isolate.logged.map(({ event }) => event) };
    };
    const { reply, events } = await post([0xff]);
    expect([reply.status, reply.body.code]).toEqual([400, "bad_input"]);
    expect(reply.body.message).toBe("Send the body in UTF-8.");
    expect(events).toEqual(["request"]);
    expect((await post([0xc3, 0xa9])).reply.body.name).toBe("aé");
    const marked = new TextEncoder().encode('\ufeff{"name":"marked"}');
    expect((await world.client.request("POST", "/v1/projects", marked, type)).status).toBe(201);
  });

  it("with several errors gets one issue for each of them", async () => {
    const { body } = await world.client.post("/v1/projects", { icon: "ship", surprise: 1 });
    const paths = body.cause.issues.map((issue: Parsed) => issue.path);
    expect(paths.toSorted()).toEqual(["icon", "name", "surprise"]);
  });

  it.each([
    ["5,000 unknown fields", 5_000, 190],
    ["an unknown field of 0.5 MiB", 1, MEBIBYTE / 2],
  ])("with %s gets a short response", async (_, count, length) => {
    const fields = Array.from({ length: count }, (_, at) => [`${at}`.padStart(length, "x"), 1]);
    const { status, body, text } = await world.client.post(
      "/v1/projects",
      Object.fromEntries([["name", "x"], ...fields]),
    );
    expect(status).toBe(400);
    expect(body.cause.issues.length).toBeLessThanOrEqual(20);
    expect(text.length).toBeLessThan(10_000);
  });

  it("cannot change prototypes", async () => {
    const reply = await world.client.request(
      "POST",
      "/v1/projects",
      '{"name":"x","__proto__":{"icon":"emoji:x"},"constructor":{}}',
      type,
    );
    expect(reply.status).toBe(400);
  });
});

describe("a path without a route", () => {
  it.each(["/v1/nothing", "/v1/projects/", "/v1//projects", "/v1/orgs/x/y/z"])(
    "such as %s is 404 with an API key and 401 without one",
    async (path) => {
      const { status, body } = await world.client.get(path);
      expect([status, body.code]).toEqual([404, "not_found"]);
      expect((await new Client(undefined).get(path)).status).toBe(401);
    },
  );

  it.each(["/nowhere", "/favicon.ico", "/v2/projects"])(
    "outside /v1, such as %s, is 404 without an API key",
    async (path) => {
      expect((await new Client(undefined).get(path)).status).toBe(404);
    },
  );
});

describe("a failure of the database", () => {
  /** A database whose queries fail, except the query for the key. */
  const failing = (thrown: unknown): D1Database => {
    let healthy = true;
    return {
      withSession: (constraint: string) => {
        const session = env.DB.withSession(constraint);
        if (healthy) {
          healthy = false;
          return session;
        }
        const fail = () => Promise.reject(thrown);
        const statement = { bind: () => statement, all: fail, run: fail, raw: fail, first: fail };
        return { prepare: () => statement, batch: fail, getBookmark: () => null };
      },
    } as unknown as D1Database;
  };

  const call = async (thrown: unknown) => {
    const isolate = new Instrumented({ database: failing(thrown) });
    const { client } = await newKey(world);
    const reply = await client.via(isolate.fetch).get("/v1/projects/1111111111111111111111");
    return { reply, isolate };
  };

  it.each([
    "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
    "D1_ERROR: D1 DB exceeded its CPU time limit and was reset.",
    "D1_ERROR: Request timed out",
  ])("by a timeout is 408: %s", async (message) => {
    const { reply } = await call(new Error(message));
    expect([reply.status, reply.body.code]).toEqual([408, "timeout"]);
  });

  it.each([
    ["an error of D1", new Error("D1_ERROR: no such table: secrets: SQLITE_ERROR")],
    ["an error of the Worker", new TypeError("secret is not a function")],
    ["a string", "secret"],
    ["nothing", undefined],
    ["an object", { secret: 1 }],
  ])("that is unexpected is 500 and shows only the request's ID: %s", async (_, thrown) => {
    const { reply, isolate } = await call(thrown);
    expect(reply.status).toBe(500);
    expect(reply.body).toEqual({
      code: "internal",
      message: "Something failed on our side. A retry may succeed.",
      cause: { request_id: reply.headers.get("x-request-id") },
    });
    const [failure] = isolate.logged.filter(({ event }) => event === "unforeseen");
    expect(failure?.fields["request_id"]).toBe(reply.headers.get("x-request-id"));
  });

  it("is logged with the message of D1", async () => {
    const isolate = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(isolate.fetch);
    await env.DB.exec("alter table projects rename to projects_elsewhere");
    try {
      for (const path of ["/v1/projects", "/v1/projects/1111111111111111111111/environments"]) {
        isolate.forget();
        expect((await caller.get(path)).status).toBe(500);
        const [failure] = isolate.logged.filter(({ event }) => event === "unforeseen");
        expect(failure?.fields).toEqual({
          request_id: expect.any(String),
          message: "D1_ERROR: no such table: projects: SQLITE_ERROR",
          stack: expect.arrayContaining([expect.stringMatching(/^at .*src\/features\//)]),
          hint: expect.stringContaining("npx wrangler d1 migrations apply DB --local"),
        });
      }
    } finally {
      await env.DB.exec("alter table projects_elsewhere rename to projects");
    }
    expect((await caller.get("/v1/projects")).status).toBe(200);
  });

  it("is logged without the parameters of the statement", async () => {
    const secret = "1111111111111111111111";
    const { isolate } = await call(new Error("D1_ERROR: no such column: SQLITE_ERROR"));
    expect(JSON.stringify(isolate.logged)).not.toContain(secret);
    expect(JSON.stringify(isolate.logged)).toContain("no such column");
  });
});

describe("a response", () => {
  it("is not stored by shared caches, and has a unique request ID", async () => {
    const replies = [
      await world.client.get("/v1/orgs"),
      await new Client(undefined).get("/v1/orgs"),
    ];
    for (const { headers } of replies) {
      expect(headers.get("cache-control")).toBe("private, no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
    expect(new Set(replies.map(({ headers }) => headers.get("x-request-id"))).size).toBe(2);
  });

  it("to https: keeps browsers from http: for a year, also that of an error; one to http: does not", async () => {
    const origin = "https://app.example.com";
    const cors = { CORS_ORIGINS: origin };
    const preflight = { origin, "access-control-request-method": "GET" };
    const cases: [number, string, string, Record<string, string>, Partial<Env>?][] = [
      [200, "GET", "/health", {}],
      [200, "GET", "/console/", {}],
      [200, "GET", "/docs", {}],
      [200, "GET", "/v1/projects", { "x-api-key": String(world.client.key) }],
      [204, "OPTIONS", "/v1/projects", preflight, cors],
      [400, "GET", "/v1/sign-in/callback", {}],
      [401, "GET", "/v1/projects", {}],
      [401, "POST", "/v1/runner/claims", {}],
      [404, "GET", "/nothing", {}],
      [501, "PATCH", "/health", {}],
      [500, "GET", "/v1/projects", {}, { LEASE_SECRET: "" }],
    ];
    for (const [status, method, path, headers, bindings] of cases) {
      for (const [protocol, expected] of [
        ["https", "max-age=31536000"],
        ["http", null],
      ]) {
        const url = `${protocol}://longshore.test${path}`;
        const address = { "cf-connecting-ip": newAddress() };
        const request = new Request<unknown, IncomingRequestCfProperties>(url, {
          method,
          headers: { ...headers, ...address },
        });
        const bound = { ...env, ...bindings };
        const response = await worker.fetch(request, bound, createExecutionContext());
        await response.text();
        const found = response.headers.get("strict-transport-security");
        expect([method, path, response.status, found]).toEqual([method, path, status, expected]);
      }
    }
  });

  it("to HEAD is the response to GET without its body", async () => {
    const project = await newProject(world.client);
    for (const path of [`/v1/projects/${project.id}`, "/health", "/openapi.json"]) {
      const reply = await world.client.request("HEAD", path);
      expect(reply.status).toBe(200);
      expect(reply.text).toBe("");
    }
  });

  it("is logged in one line, with the pattern of the route instead of the path", async () => {
    const isolate = new Instrumented();
    const project = await newProject(world.client);
    const { client, keyId } = await newKey(world);
    const reply = await client
      .via(isolate.fetch)
      .get(`/v1/projects/${project.id}/environments?limit=7`);
    const lines = isolate.logged.filter(({ event }) => event === "request");
    expect(lines).toEqual([
      {
        level: "info",
        event: "request",
        fields: {
          request_id: reply.headers.get("x-request-id"),
          method: "GET",
          route: "/v1/projects/{project_id}/environments",
          status: 200,
          duration_ms: expect.any(Number),
          key_id: keyId,
          organization_id: world.id,
        },
      },
    ]);
  });

  it("is logged with its own route if it repeats another, whose resource it reads", async () => {
    const isolate = new Instrumented();
    // A member, because an owner may read everything.
    const { client } = await join(world);
    const create = () =>
      client
        .via(isolate.fetch)
        .request("POST", "/v1/projects", { name: "shop" }, { "idempotency-key": "shop" });
    expect((await create()).status).toBe(201);
    expect((await create()).headers.get("idempotency-replayed")).toBe("true");
    const lines = isolate.logged.filter(({ event }) => event === "request");
    expect(lines.map(({ fields }) => [fields["method"], fields["route"]])).toEqual([
      ["POST", "/v1/projects"],
      ["POST", "/v1/projects"],
    ]);
  });

  it("is logged without keys, names and e-mail addresses", async () => {
    const isolate = new Instrumented();
    const { client } = await newKey(world);
    const caller = client.via(isolate.fetch);
    const members = `/v1/orgs/${world.id}/members`;
    const person = { email: "canary@example.com", name: "Canary Name", role: "member" };
    await caller.post(members, person);
    await caller.post(members, person);
    await caller.post(members, { ...person, surprise: "canary value" });
    const created = await caller.post(`/v1/orgs/${world.id}/api-keys`, { name: "canary key" });
    const log = JSON.stringify(isolate.logged);
    for (const canary of [client.key, created.body.key, "canary", "Canary"]) {
      expect(log).not.toContain(canary);
    }
  });
});

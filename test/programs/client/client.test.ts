import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  ApiError,
  type Client,
  type ClientOptions,
  ConnectionError,
  createClient,
  TimeoutError,
} from "../../../packages/client/src/index.ts";
import { type Fault, ScriptedProxy } from "../support/scripted-proxy.ts";
import { failureOf, newClient, useService } from "../support/service.ts";

const BAD_GATEWAY: Fault = {
  reply: 502,
  headers: { "content-type": "text/html" },
  body: "<html>Bad gateway</html>",
};

const service = useService();
let proxy: ScriptedProxy;
let apiKey: string;
let longshore: Client;

beforeAll(async () => {
  proxy = await ScriptedProxy.start(service.url);
});

/** Each test has its own key, and with it its own rate limit. */
beforeEach(async () => {
  ({ key: apiKey } = await newClient(service, { role: "admin" }));
  longshore = clientWith();
  proxy.reset();
});

afterAll(() => proxy.close());

function clientWith(options: Partial<ClientOptions> = {}): Client {
  return createClient({ url: proxy.url, apiKey, ...options });
}

const newName = () => `project-${crypto.randomUUID().slice(0, 8)}`;

async function newProject(client = longshore) {
  return client.post("/v1/projects", { body: { name: newName() } });
}

/** Headers of the requests since the last `reset`. */
const sent = (header: string) => proxy.requests.map(({ headers }) => headers[header]);

describe("a call of the client", () => {
  it("returns the body of the response, and undefined if there is none", async () => {
    const created = await newProject();
    const path = { project_id: created.id };
    expect(await longshore.get("/v1/projects/{project_id}", { path })).toEqual(created);
    const query = { limit: 5, sort_by: "+created_at" } as const;
    const page = await longshore.get("/v1/projects/{project_id}/environments", { path, query });
    expect(page.data.map(({ id }) => id)).toEqual([created.default_environment_id]);
    expect(await longshore.delete("/v1/projects/{project_id}", { path })).toBeUndefined();
  });

  it("throws what the service answers, with the code, the cause and the request ID", async () => {
    const blank = await failureOf(longshore.post("/v1/projects", { body: { name: " " } }));
    expect(blank).toBeInstanceOf(ApiError);
    expect(blank).toMatchObject({
      name: "ApiError",
      code: "bad_input",
      status: 400,
      cause: { issues: [{ path: "name" }] },
      requestId: expect.stringMatching(/^\S{8,}$/),
      message: expect.stringMatching(/\w/),
    });
    const path = { project_id: "1Cg38jbq6cZAbs5tGiyPJx" };
    const unknown = await failureOf(longshore.get("/v1/projects/{project_id}", { path }));
    expect(unknown).toMatchObject({ code: "not_found", status: 404, cause: undefined });
    const stranger = clientWith({ apiKey: "lsh_unknown" });
    expect(await failureOf(stranger.get("/v1/projects"))).toMatchObject({
      code: "unauthenticated",
      status: 401,
    });
    expect(proxy.requests).toHaveLength(3);
  });

  it("does not send the key to the target of a redirect, and says that the URL may be wrong", async () => {
    const location = `${proxy.url}/elsewhere`;
    for (const status of [301, 302, 307, 308]) {
      proxy.reset({ reply: status, headers: { location } });
      const error = await failureOf(longshore.get("/v1/projects"));
      expect(error).toMatchObject({ code: "unexpected_response", status });
      expect(String(error)).toContain(location);
      expect(proxy.requests.map(({ url }) => url)).toEqual(["/v1/projects"]);
    }
  });

  it("throws for a page instead of JSON, without a repeat", async () => {
    proxy.reset({ reply: 200, headers: { "content-type": "text/html" }, body: "<html>" });
    expect(await failureOf(newProject())).toMatchObject({
      code: "unexpected_response",
      status: 200,
    });
    expect(proxy.requests).toHaveLength(1);
  });

  it("refuses parameters that would lead to another operation", async () => {
    for (const id of ["", ".", ".."]) {
      const call = longshore.delete("/v1/projects/{project_id}", { path: { project_id: id } });
      expect(await failureOf(call)).toBeInstanceOf(TypeError);
    }
    const path = { project_id: "a/../b?c=1#d" };
    expect(await failureOf(longshore.get("/v1/projects/{project_id}", { path }))).toMatchObject({
      status: expect.toSatisfy((status) => status === 400 || status === 404),
    });
    expect(proxy.requests.map(({ url }) => url)).toEqual(["/v1/projects/a%2F..%2Fb%3Fc%3D1%23d"]);
  });

  it.each(["localhost:8787", "ftp://localhost", "https://a:b@localhost", "https://localhost?a=1"])(
    "is not possible with the URL %s",
    (url) => {
      expect(() => clientWith({ url })).toThrow(TypeError);
    },
  );

  it("is not possible with a key that is no header value", () => {
    expect(() => clientWith({ apiKey: "lsh_\n" })).toThrow(TypeError);
    expect(() => clientWith({ apiKey: "" })).toThrow(TypeError);
  });

  it("returns an unread response for other forms than JSON", async () => {
    const response = await longshore.request("GET", "/v1/projects", { query: { limit: 1 } });
    expect(response.headers.get("x-request-id")).toMatch(/\S/);
    expect(await response.json()).toMatchObject({ data: expect.any(Array) });
    const { id } = await newProject();
    const path = { project_id: id };
    const read = await longshore.request("GET", "/v1/projects/{project_id}", { path });
    const headers = { "If-None-Match": String(read.headers.get("etag")) };
    const again = await longshore.request("GET", "/v1/projects/{project_id}", { path, headers });
    expect([read.status, again.status]).toEqual([200, 304]);
  });
});

describe("the repeats of the client", () => {
  const FAULTS: [string, Fault[]][] = [
    ["two lost requests", ["lost request", "lost request"]],
    ["two lost responses", ["lost response", "lost response"]],
    ["a response that is cut off", [{ cutAfter: 10 }]],
    ["the page of a proxy", [BAD_GATEWAY, { reply: 503 }, { reply: 504 }]],
    ["a timeout of the service", [{ reply: 408 }, "lost response"]],
  ];

  it.each(FAULTS)("create one record, and return it: %s", async (_, faults) => {
    const name = newName();
    proxy.reset(...faults);
    const created = await longshore.post("/v1/projects", { body: { name } });
    expect(proxy.requests).toHaveLength(faults.length + 1);
    const keys = sent("idempotency-key");
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    const { data } = await longshore.get("/v1/projects", { query: { limit: 240 } });
    expect(data.filter((project) => project.name === name)).toEqual([created]);
  });

  it.each(FAULTS)("make reads, changes and deletions succeed: %s", async (_, faults) => {
    const { id } = await newProject();
    const path = { project_id: id };
    const name = newName();
    proxy.reset(...faults);
    const changed = await longshore.patch("/v1/projects/{project_id}", { path, body: { name } });
    expect(changed).toMatchObject({ id, name });
    proxy.reset(...faults);
    expect(await longshore.get("/v1/projects/{project_id}", { path })).toMatchObject({ name });
    proxy.reset(...faults);
    expect(await longshore.delete("/v1/projects/{project_id}", { path })).toBeUndefined();
    // A deletion has no body that can be cut off.
    expect(proxy.requests).toHaveLength(
      typeof faults[0] === "object" && "cutAfter" in faults[0] ? 1 : faults.length + 1,
    );
  });

  it("do not hide that a record to delete never existed", async () => {
    const path = { project_id: "1Cg38jbq6cZAbs5tGiyPJx" };
    proxy.reset({ reply: 429, headers: { "retry-after": "0" } });
    expect(await failureOf(longshore.delete("/v1/projects/{project_id}", { path }))).toMatchObject({
      code: "not_found",
    });
    expect(proxy.requests).toHaveLength(2);
  });

  it("have the key of the caller, and each call has another", async () => {
    proxy.reset("lost response");
    const idempotencyKey = newName();
    const body = { name: newName() };
    const first = await longshore.post("/v1/projects", { body, idempotencyKey });
    expect(await longshore.post("/v1/projects", { body, idempotencyKey })).toEqual(first);
    await longshore.post("/v1/projects", { body: { name: newName() } });
    await longshore.post("/v1/projects", { body: { name: newName() } });
    const keys = sent("idempotency-key");
    expect(keys.slice(0, 3)).toEqual([idempotencyKey, idempotencyKey, idempotencyKey]);
    expect(new Set(keys).size).toBe(3);
  });

  it("wait as long as Retry-After says, as seconds or as a date", async () => {
    const seconds = Date.now() + 1_000;
    proxy.reset({ reply: 429, headers: { "retry-after": "1" } });
    await newProject();
    expect(Date.now()).toBeGreaterThanOrEqual(seconds);
    expect(proxy.requests).toHaveLength(2);
    const date = new Date(Date.now() + 2_000).toUTCString();
    proxy.reset({ reply: 503, headers: { "retry-after": date } });
    await newProject();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(date));
    expect(proxy.requests).toHaveLength(2);
  });

  it("do not begin if the service asks for a longer time than the call has", async () => {
    proxy.reset({ reply: 429, headers: { "retry-after": "3600" } });
    expect(await failureOf(longshore.get("/v1/projects"))).toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(proxy.requests).toHaveLength(1);
  });

  it("end after the number of retries, with the last error", async () => {
    const client = clientWith({ retries: 2 });
    proxy.reset(BAD_GATEWAY, BAD_GATEWAY, "lost request");
    expect(await failureOf(client.get("/v1/projects"))).toBeInstanceOf(ConnectionError);
    expect(proxy.requests).toHaveLength(3);
    proxy.reset(BAD_GATEWAY);
    expect(await failureOf(client.get("/v1/projects", { retries: 0 }))).toMatchObject({
      code: "unexpected_response",
      status: 502,
    });
    expect(proxy.requests).toHaveLength(1);
  });

  it("end after the total time", async () => {
    const client = clientWith({ retries: 1_000, totalTimeoutMs: 2_000 });
    proxy.reset(...Array<Fault>(1_000).fill("lost request"));
    expect(await failureOf(client.get("/v1/projects"))).toBeInstanceOf(ConnectionError);
    expect(proxy.requests.length).toBeGreaterThan(1);
    expect(proxy.requests.length).toBeLessThan(20);
  });

  it("are not made of errors that a repeat does not change, nor of 501", async () => {
    for (const status of [400, 401, 403, 404, 409, 501]) {
      proxy.reset({ reply: status });
      expect(await failureOf(longshore.get("/v1/projects"))).toMatchObject({ status });
      expect(proxy.requests).toHaveLength(1);
    }
  });

  it("are not made of operations without a key after which the work may be done", async () => {
    const body = { org_id: service.organizationId, token: "a.b.c" };
    proxy.reset("lost response");
    expect(await failureOf(longshore.post("/v1/oidc/token", { body }))).toBeInstanceOf(
      ConnectionError,
    );
    expect(sent("idempotency-key")).toEqual([undefined]);
    proxy.reset({ reply: 429, headers: { "retry-after": "0" } }, { reply: 400 });
    expect(await failureOf(longshore.post("/v1/oidc/token", { body }))).toMatchObject({
      status: 400,
    });
    expect(proxy.requests).toHaveLength(2);
    proxy.reset("lost response", { reply: 400 });
    const repeated = longshore.post("/v1/oidc/token", { body, isRepeatable: true });
    expect(await failureOf(repeated)).toMatchObject({ status: 400 });
  });

  it("are made of requests that have no response in time", async () => {
    const client = clientWith({ timeoutMs: 300 });
    proxy.reset("silence");
    const name = newName();
    expect(await client.post("/v1/projects", { body: { name }, timeoutMs: 5_000 })).toMatchObject({
      name,
    });
    expect(proxy.requests).toHaveLength(2);
    proxy.reset("silence", "silence");
    expect(await failureOf(client.get("/v1/projects", { retries: 1 }))).toBeInstanceOf(
      TimeoutError,
    );
    expect(proxy.requests).toHaveLength(2);
  });

  it("end as soon as the signal aborts, with its reason", async () => {
    const reason = new Error("The user has pressed Ctrl-C.");
    for (const fault of ["silence", { reply: 429, headers: { "retry-after": "60" } }] as const) {
      proxy.reset(fault);
      const controller = new AbortController();
      const call = longshore.get("/v1/projects", { signal: controller.signal });
      await expect.poll(() => proxy.requests.length).toBe(1);
      controller.abort(reason);
      expect(await failureOf(call)).toBe(reason);
      expect(proxy.requests).toHaveLength(1);
    }
    proxy.reset();
    const call = longshore.get("/v1/projects", { signal: AbortSignal.abort(reason) });
    expect(await failureOf(call)).toBe(reason);
    expect(proxy.requests).toEqual([]);
  });
});

describe("the bookmark of the database", () => {
  it("of each response is in the next request, and is never an older one", async () => {
    const client = clientWith();
    await newProject(client);
    await client.get("/v1/projects");
    const [first, second] = sent("x-d1-bookmark");
    expect(first).toBeUndefined();
    expect(second).toMatch(/^[0-9a-f-]+$/);
    const json = { "content-type": "application/json" };
    const replies = ["00000003-b", "00000002-c", undefined, "00000003-c"].map((bookmark) => ({
      reply: 200,
      headers: { ...json, ...(bookmark && { "x-d1-bookmark": bookmark }) },
      body: "{}",
    }));
    const other = clientWith();
    proxy.reset(...replies);
    for (const _ of replies) await other.get("/v1/projects");
    await other.get("/health");
    expect(sent("x-d1-bookmark")).toEqual([
      undefined,
      "00000003-b",
      "00000003-b",
      "00000003-b",
      "00000003-c",
    ]);
  });
});

describe("the list of the client", () => {
  it("yields the records of all pages once, in order, through faults", async () => {
    const { id } = await newProject();
    const path = { project_id: id };
    const names = ["a", "b", "c", "d"];
    for (const name of names) {
      await longshore.post("/v1/projects/{project_id}/environments", { path, body: { name } });
    }
    proxy.reset("none", "lost response", BAD_GATEWAY, "none", { cutAfter: 5 });
    const listed: string[] = [];
    for await (const environment of longshore.list("/v1/projects/{project_id}/environments", {
      path,
      query: { limit: 2, sort_by: "created_at" },
    })) {
      listed.push(environment.name);
    }
    expect(listed).toEqual(["production", ...names]);
    expect(proxy.requests).toHaveLength(6);
  });

  it("asks for no page that is not needed, and for one page of a list without pages", async () => {
    const { id } = await newProject();
    await newProject();
    proxy.reset();
    for await (const project of longshore.list("/v1/projects", { query: { limit: 1 } })) {
      expect(project.id).toMatch(/\w/);
      break;
    }
    const path = { project_id: id };
    const integrations = longshore.list("/v1/projects/{project_id}/notification-integrations", {
      path,
    });
    for await (const _ of integrations) expect.unreachable();
    expect(proxy.requests).toHaveLength(2);
  });
});

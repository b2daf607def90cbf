import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import worker from "../../src/index.ts";
import { newAddress } from "../support/client.ts";

async function send(
  path: string,
  init: { method?: string; headers?: Record<string, string> } = {},
  bindings: Partial<Env> = {},
) {
  const request = new Request<unknown, IncomingRequestCfProperties>(
    `https://longshore.test${path}`,
    {
      ...init,
      headers: { "cf-connecting-ip": newAddress(), ...init.headers },
    },
  );
  const response = await worker.fetch(request, { ...env, ...bindings }, createExecutionContext());
  return { response, text: await response.text() };
}

/** The asset router serves the files themselves: test/programs/installation/assets.test.ts. */
describe("the console", () => {
  it.each([
    "/console",
    "/console/",
    "/console/projects/1ChKVS7TXhrpKpAy82QXR8",
    "/console/organization/keys?filter=ci",
    "/console/../console/runners",
  ])("shows its document at %s", async (path) => {
    const { response, text } = await send(path);
    expect(response.status).toBe(200);
    expect(text).toMatch(/<script type="module"[^>]* src="\/console\/assets\/[\w-]+\.js">/);
    expect(response.headers.get("content-type")).toMatch(/^text\/html/);
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.has("x-request-id")).toBe(true);
  });

  it.each(["/console/assets/index-0.js", "/console/assets/", "/consoles", "/console.html"])(
    "has no file or page at %s",
    async (path) => {
      const { response, text } = await send(path);
      expect(response.status).toBe(404);
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(JSON.parse(text)).toMatchObject({ code: "not_found" });
    },
  );

  it("allows only its own files to run, and no page to embed it", async () => {
    for (const path of ["/console/", "/console/runners"]) {
      const { headers } = (await send(path)).response;
      const policy = String(headers.get("content-security-policy"));
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
    }
  });

  it("revalidates with the tag of the document", async () => {
    const tag = String((await send("/console/")).response.headers.get("etag"));
    const same = await send("/console/runners", { headers: { "if-none-match": tag } });
    expect([same.response.status, same.text]).toEqual([304, ""]);
    const other = await send("/console/", { headers: { "if-none-match": '"0"' } });
    expect(other.response.status).toBe(200);
  });

  it("replies to HEAD without a body, and refuses other methods", async () => {
    const head = await send("/console/", { method: "HEAD" });
    expect([head.response.status, head.text]).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      expect((await send("/console/", { method })).response.status).toBe(404);
    }
  });
});

describe("the path /", () => {
  const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  it.each(["GET", "HEAD"])("leads a browser to the console with %s", async (method) => {
    const { response, text } = await send("/", { method, headers: { accept: BROWSER } });
    const { status, headers } = response;
    expect([status, headers.get("location"), text]).toEqual([302, "/console/", ""]);
    expect([headers.get("vary"), headers.get("cache-control")]).toEqual([
      "Accept",
      "private, no-store",
    ]);
  });

  it.each([{}, { accept: "*/*" }, { accept: "application/json" }])(
    "shows other clients the home page, and no cache shows it to browsers: %o",
    async (headers) => {
      const { response, text } = await send("/", { headers });
      expect([response.status, response.headers.get("vary")]).toEqual([200, "Accept"]);
      expect(text).toContain('href="/docs"');
      const etag = String(response.headers.get("etag"));
      const same = await send("/", { headers: { ...headers, "if-none-match": etag } });
      expect([same.response.status, same.response.headers.get("vary")]).toEqual([304, "Accept"]);
    },
  );

  it("shows a browser the reference at /docs, and refuses other methods", async () => {
    const docs = await send("/docs", { headers: { accept: BROWSER } });
    expect([docs.response.status, docs.response.headers.get("vary")]).toEqual([200, null]);
    const post = await send("/", { method: "POST", headers: { accept: BROWSER } });
    expect(post.response.status).toBe(501);
  });
});

describe("a request of a page", () => {
  it.each([
    ["/", "/", 200],
    ["/docs", "/docs/*", 200],
    ["/docs/guides/nothing", "/docs/*", 404],
    ["/console/projects/1ChKVS7TXhrpKpAy82QXR8", "/console/*", 200],
  ])("of %s is logged with the pattern %s, and no path", async (path, route, status) => {
    const lines: object[] = [];
    const app = createApp({ log: (_level, event, fields) => lines.push({ event, ...fields }) });
    const request = new Request(`https://longshore.test${path}`, {
      headers: { "cf-connecting-ip": newAddress() },
    });
    await (await app.fetch(request, env, createExecutionContext())).text();
    expect(lines).toMatchObject([{ event: "request", route, status }]);
  });
});

describe("the files of the pages", () => {
  it.each(["/", "/docs", "/docs/nothing", "/openapi.json", "/console/"])(
    "are read without a credential for %s",
    async (path) => {
      const read: string[] = [];
      const ASSETS = {
        fetch: (url: URL, init: RequestInit) => {
          read.push(...new Headers(init.headers).keys());
          return env.ASSETS.fetch(url, init);
        },
      } as Fetcher;
      const headers = {
        cookie: "__Host-longshore=secret",
        "x-api-key": "secret",
        authorization: "Bearer secret",
        "if-none-match": '"0"',
      };
      const { response } = await send(path, { headers }, { ASSETS });
      expect(response.status).toBe(path === "/docs/nothing" ? 404 : 200);
      expect(read.filter((name) => name !== "if-none-match")).toEqual([]);
      expect(read.length).toBe(path === "/openapi.json" ? 0 : 1);
    },
  );

  it.each(["/", "/docs", "/openapi.json", "/console/"])(
    "are not found while the asset router does not run: %s",
    async (path) => {
      const broken = { fetch: async () => new Response("Internal", { status: 503 }) };
      const { response, text } = await send(path, {}, { ASSETS: broken as unknown as Fetcher });
      expect([response.status, JSON.parse(text).code]).toEqual([404, "not_found"]);
      expect(text).not.toContain("Internal");
    },
  );
});

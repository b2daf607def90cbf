import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
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

describe("the console", () => {
  it.each([
    "/console",
    "/console/",
    "/console/projects/1ChKVS7TXhrpKpAy82QXR8",
    "/console/organization/keys?filter=ci",
    "/console/../console/runners",
  ])("shows its document at %s", async (path) => {
    const { response, text } = await send(path);
    expect([response.status, text]).toEqual([200, "the document"]);
    expect(response.headers.get("cache-control")).toBe("no-cache");
  });

  it("serves its files for a year, because their names change with them", async () => {
    const { response, text } = await send("/console/assets/index-1.js");
    expect([response.status, text]).toEqual([200, "the script"]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
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
    for (const path of ["/console/", "/console/assets/index-1.js"]) {
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
    const same = await send("/console/", { headers: { "if-none-match": tag } });
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

  it("passes no credential to the Worker that has the files", async () => {
    const headers = {
      cookie: "__Host-longshore=secret",
      "x-api-key": "secret",
      authorization: "b",
    };
    const { response } = await send("/console/", { headers });
    const got = String(response.headers.get("x-got")).split(",");
    expect(got).not.toContain("cookie");
    expect(got).not.toContain("x-api-key");
    expect(got).not.toContain("authorization");
  });

  it("is not found while its Worker does not run", async () => {
    const broken = { fetch: async () => new Response("Internal", { status: 503 }) };
    const { response, text } = await send("/console/", {}, { CONSOLE: broken as never });
    expect(response.status).toBe(404);
    expect(text).not.toContain("Internal");
  });
});

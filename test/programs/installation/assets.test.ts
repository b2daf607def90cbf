import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ASSETS_FOLDER } from "../../../scripts/lib/assets.ts";
import { readConfiguration } from "../../../scripts/lib/configuration.ts";
import { readDocument } from "../../../scripts/lib/document.ts";
import { useService } from "../support/service.ts";

const service = useService();

async function read(path: string, init: RequestInit = {}) {
  const response = await fetch(new URL(path, service.pages), { redirect: "manual", ...init });
  return { response, headers: response.headers, text: await response.text() };
}

const consoleFiles = () =>
  readdirSync(join(ASSETS_FOLDER, "console/assets")).map((name) => `/console/assets/${name}`);

describe("the asset router", () => {
  it("serves the files of the console for a year, with a policy and HSTS, and revalidates them", async () => {
    const files = consoleFiles();
    expect(files.map((file) => file.split(".").at(-1)).toSorted()).toEqual(["css", "js", "svg"]);
    for (const file of files) {
      const { response, headers, text } = await read(file);
      expect([response.status, text === ""]).toEqual([200, false]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      );
      const tag = String(headers.get("etag"));
      const same = await read(file, { headers: { "if-none-match": tag } });
      expect([same.response.status, same.text]).toEqual([304, ""]);
      const head = await read(file, { method: "HEAD" });
      expect([head.response.status, head.text]).toEqual([200, ""]);
    }
  });

  it("serves the icon that browsers ask for at a reply of the API", async () => {
    const { response, headers, text } = await read("/favicon.ico");
    expect([response.status, headers.get("content-type")]).toEqual([
      200,
      "image/vnd.microsoft.icon",
    ]);
    expect(headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
    expect(text).toContain("PNG");
  });

  it("has one spelling of each path", async () => {
    for (const [path, location] of [
      ["/index.html", "/"],
      ["/docs.html", "/docs"],
      ["/console/index.html", "/console/"],
    ]) {
      const { response, headers } = await read(String(path));
      expect([path, response.status, headers.get("location")]).toEqual([path, 307, location]);
    }
  });

  it("serves no file with rules or digests", async () => {
    for (const path of ["/_headers", "/assets.json", "/../assets.json", "/dist/assets.json"]) {
      const { response, headers } = await read(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(headers.get("content-type")).toBe("application/json");
    }
  });

  it("leaves the paths of every operation to the Worker, without a lookup of a file", async () => {
    const { assets } = await readConfiguration();
    const listed = [assets?.run_worker_first ?? []].flat().map(String);
    expect(listed[0]).toBe("/v1/*");
    const rules = listed.map((rule) => new RegExp(`^${rule.replaceAll("*", ".*")}$`));
    const paths = Object.keys((await readDocument()).paths ?? {});
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !rules.some((rule) => rule.test(path)))).toEqual([]);
  });
});

describe("a response of the Worker", () => {
  it.each([
    [200, "GET", "/"],
    [200, "GET", "/health"],
    [200, "GET", "/docs"],
    [200, "GET", "/docs/guides/variables"],
    [200, "GET", "/docs/reference.js"],
    [200, "GET", "/openapi.json"],
    [200, "HEAD", "/openapi.json"],
    [200, "GET", "/console"],
    [200, "GET", "/console/"],
    [200, "GET", "/console/projects/1ChKVS7TXhrpKpAy82QXR8"],
    [501, "GET", "/sign-in"],
    [401, "GET", "/v1/projects"],
    [404, "GET", "/docs/nope"],
    [404, "GET", "/console/assets/index-0.js"],
    [404, "GET", "/nowhere"],
    [404, "POST", "/console/"],
    [501, "POST", "/"],
    [501, "POST", "/docs"],
  ])(
    "has the status %i for %s %s, an ID, and one policy if it is a page",
    async (status, method, path) => {
      const { response, headers } = await read(path, { method });
      expect(response.status).toBe(status);
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toMatch(
        /^(no-cache|private, no-store|public, max-age=300)$/,
      );
      const isHtml = headers.get("content-type")?.startsWith("text/html") === true;
      const policy = headers.get("content-security-policy") ?? "";
      if (isHtml) expect(policy.split("default-src 'none'")).toHaveLength(2);
    },
  );
});

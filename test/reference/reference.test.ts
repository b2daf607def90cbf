import { beforeAll, describe, expect, it } from "vitest";
import { Client, type Reply } from "../support/client.ts";
import { openApi, publishedOperations as operations, resolve } from "../support/contract.ts";
import {
  anchorsOf,
  articleOf,
  capture,
  linksOf,
  readPages,
  textOf,
} from "../support/reference-text.ts";

let pages: Map<string, Reply>;
beforeAll(async () => {
  pages = await readPages();
});

const pageOf = (path: string) => pages.get(path)?.text ?? "";

describe("the page at /", () => {
  it("links to the reference, the document, the health and the source, and to the first key", async () => {
    const { status, headers, text } = await new Client(undefined).get("/");
    expect(status).toBe(200);
    const policy = headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(policy).not.toContain("script-src");
    expect(linksOf(text)).toEqual([
      "/docs",
      "/openapi.json",
      "/health",
      "https://github.com/longshore/longshore",
      "/docs/service#bootstrap",
    ]);
    expect(anchorsOf(pageOf("/docs/service"))).toContain("bootstrap");
  });
});

describe("the pages at /docs", () => {
  it("are one for each tag, the webhooks, the schemas and each guide", () => {
    const tags = new Set(operations.flatMap((each) => each.tags));
    expect(pages.size).toBe(1 + 12 + tags.size + 2);
    const guides = ["/docs/guides/runners", "/docs/guides/write-a-runner"];
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(["/docs/api-keys", "/docs/webhooks", ...guides]),
    );
  });

  it("are HTML that caches may store, each with a title of its own", () => {
    for (const { status, headers } of pages.values()) {
      expect(status).toBe(200);
      expect(headers.get("content-type")?.toLowerCase()).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("public, max-age=300");
    }
    const titles = [...pages.values()].flatMap(({ text }) =>
      capture(text, /<title>(.+?)<\/title>/g),
    );
    expect(new Set(titles).size).toBe(pages.size);
    expect(titles.filter((title) => !/^\S.* · Longshore API$/.test(title))).toEqual([]);
  });

  it("have one heading of the first level, and skip no level", () => {
    for (const [path, { text }] of pages) {
      const levels = capture(text, /<h([1-6])[\s>]/g).map(Number);
      expect(
        levels.filter((level) => level === 1),
        path,
      ).toHaveLength(1);
      const skips = levels.filter((level, at) => level > Number(levels[at - 1] ?? 0) + 1);
      expect(skips, path).toEqual([]);
    }
  });

  it("close every element that they open", () => {
    const EMPTY = ["meta", "link", "wbr", "br", "hr", "input", "!doctype"];
    for (const [path, { text }] of pages) {
      const open: string[] = [];
      for (const [, slash, name = ""] of text.matchAll(/<(\/?)([a-z!][a-z0-9]*)[^>]*>/g)) {
        if (EMPTY.includes(name)) continue;
        if (!slash) open.push(name);
        else expect(open.pop(), `${path}: </${name}>`).toBe(name);
      }
      expect(open, path).toEqual([]);
    }
  });

  it("allow their own style by its hash and the script of this origin, and nothing else", async () => {
    for (const { headers, text } of pages.values()) {
      const [style = ""] = capture(text, /<style>([\s\S]*?)<\/style>/g);
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
      const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
      expect(headers.get("content-security-policy")).toBe(
        `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; connect-src 'self'; ` +
          "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      const tags = capture(text, /(<[a-z][^>]*>)/g);
      const active = tags.filter((tag) =>
        /^<script|\s(style|src|on\w+)=/.test(tag.replaceAll(/"[^"]*"/g, '""')),
      );
      expect(
        active.filter((tag) => !/^<script src="\/docs\/reference\.js\?v=[\w-]+" defer>$/.test(tag)),
      ).toEqual([]);
    }
  });

  it.each([
    "/docs/nothing",
    "/docs/guides/nothing",
    "/docs/guides",
    "/docs/Projects",
    "/docs/__proto__",
    "/docs/projects.html",
    "/docs/projects/",
    "/docs/not-found",
  ])("reply to %s with a page that leads to the others, and the status 404", async (path) => {
    const { status, text, headers } = await new Client(undefined).get(path);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toMatch(/^text\/html/);
    expect(headers.get("cache-control")).toBe("private, no-store");
    expect(headers.has("etag")).toBe(false);
    expect(capture(text, /<h1>(.+?)<\/h1>/g)).toEqual(["Page not found"]);
    expect(linksOf(text)).toEqual(expect.arrayContaining([...pages.keys()]));
    const policies = [headers, pages.get("/docs")?.headers].map((each) =>
      each?.get("content-security-policy"),
    );
    expect(policies[0]).toBe(policies[1]);
  });

  it("reply with 304 to the tag of the file, also of HEAD, and with the page to another", async () => {
    const client = new Client(undefined);
    for (const path of ["/", "/docs", "/docs/guides/variables", "/docs/search.json"]) {
      const head = await client.request("HEAD", path);
      expect([head.status, head.text]).toEqual([200, ""]);
      const tag = String(head.headers.get("etag"));
      const same = await client.get(path, { "if-none-match": tag });
      expect([same.status, same.text]).toEqual([304, ""]);
      expect(same.headers.get("cache-control")).toBe("public, max-age=300");
      const other = await client.get(path, { "if-none-match": '"0"' });
      expect([other.status, other.headers.get("etag")]).toEqual([200, tag]);
      expect(other.text).not.toBe("");
    }
  });

  it.each(["/", "/docs", "/docs/projects"])("implement no other method at %s", async (path) => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const reply = await new Client(undefined).request(method, path);
      expect([reply.status, reply.headers.get("allow")]).toEqual([501, "GET, HEAD"]);
    }
  });

  it("have one anchor for every link, on the same page and on others", () => {
    const anchors = new Map([...pages].map(([path, { text }]) => [path, anchorsOf(text)]));
    for (const [path, ids] of anchors) expect(new Set(ids).size, path).toBe(ids.length);
    const isKnown = (from: string, link: string) => {
      const [path = "", fragment] = link.split("#");
      const target = anchors.get(path === "" ? from : path);
      return (
        target !== undefined &&
        (fragment === undefined || target.includes(decodeURIComponent(fragment)))
      );
    };
    const lost = [...pages].flatMap(([path, { text }]) =>
      linksOf(text)
        .filter((link) => !/^https?:/.test(link) && link !== "/openapi.json")
        .filter((link) => !isKnown(path, link))
        .map((link) => `${path}: ${link}`),
    );
    expect(lost).toEqual([]);
  });

  it("lead from the first to the last in one chain, and back", () => {
    const neighbor = (path: string, relation: string) =>
      new RegExp(`<a rel="${relation}" href="([^"]+)"`).exec(pageOf(path))?.[1];
    const chain = ["/docs"];
    for (let next = neighbor("/docs", "next"); next; next = neighbor(next, "next")) {
      expect(neighbor(next, "prev")).toBe(chain.at(-1));
      chain.push(next);
    }
    expect(chain.toSorted()).toEqual([...pages.keys()].toSorted());
    expect(neighbor("/docs", "prev")).toBeUndefined();
  });

  it("list all pages in the contents, and the operations of their own only", () => {
    const [contents = ""] = capture(
      pageOf("/docs/projects"),
      /<nav id="contents"[^>]*>([\s\S]*?)<\/nav>/g,
    );
    const links = linksOf(contents);
    expect(links.filter((link) => !link.includes("#")).toSorted()).toEqual(
      [...pages.keys()].toSorted(),
    );
    expect(links).toContain("/docs/projects#createProject");
    expect(links).not.toContain("/docs/environments#createEnvironment");
    expect(capture(contents, /<a href="([^"]+)" aria-current="page"/g)).toEqual(["/docs/projects"]);
  });
});

describe("the webhooks", () => {
  it.each(Object.entries(openApi.webhooks))("have %s", (type, { post }) => {
    const anchor = `webhook-${type.replace(".", "-")}`;
    const [article = ""] = articleOf(pageOf("/docs/webhooks"), anchor);
    expect(article).toContain(post.summary);
    expect(article).toContain(`<code>${type}</code>`);
    const schema = post.requestBody?.content["application/json"]?.schema;
    expect(textOf(article)).toContain(JSON.stringify(resolve(schema ?? {})["example"], null, 2));
  });

  it("have their headers and replies once", () => {
    const [post] = Object.values(openApi.webhooks).map((each) => each.post);
    const names = post?.parameters?.map(({ name }) => name) ?? [];
    expect(names).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
    const statuses = Object.keys(post?.responses ?? {});
    expect(statuses.toSorted()).toEqual(["2XX", "3XX", "410", "429", "default"]);
    for (const term of [
      ...names,
      ...statuses.map((each) => each.replace("default", "any other")),
    ]) {
      expect(pageOf("/docs/webhooks").split(`<dt><code>${term}</code>`)).toHaveLength(2);
    }
  });
});

describe("the overview", () => {
  it("lists each error code and each scope once", () => {
    const [, errors = ""] = /<section id="errors"([\s\S]*?)<\/section>/.exec(pageOf("/docs")) ?? [];
    expect(capture(errors, /<th scope="row"><code>(\w+)<\/code>/g)).toHaveLength(10);
    const [, scopes = ""] = /<section id="scopes"([\s\S]*?)<\/section>/.exec(pageOf("/docs")) ?? [];
    const needed = new Set(operations.flatMap((each) => each["x-scope"] ?? []));
    expect(capture(scopes, /<dt><code>([\w:]+)<\/code>/g)).toEqual([...needed].toSorted());
  });
});

describe("the script of the pages", () => {
  it("is JavaScript that caches may store, and every page loads this version", async () => {
    const { status, headers, text } = await new Client(undefined).get("/docs/reference.js");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
    const hash = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const tag = `<script src="/docs/reference.js?v=${hash}" defer></script>`;
    for (const page of pages.values()) expect(page.text.split(tag)).toHaveLength(2);
  });

  it("finds every operation, and only what the pages have", async () => {
    const { body, headers } = await new Client(undefined).get("/docs/search.json");
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const ids = body.operations.map((each: { id: string }) => each.id);
    expect(ids.toSorted()).toEqual(operations.map((each) => each.operationId).toSorted());
    const urls: string[] = Object.values<{ url: string }[]>(body)
      .flat()
      .map(({ url }) => url);
    const lost = urls.filter((url) => {
      const [path = "", fragment] = url.split("#");
      const text = pages.get(path)?.text;
      return text === undefined || (fragment !== undefined && !text.includes(` id="${fragment}"`));
    });
    expect(lost).toEqual([]);
  });
});

import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { withOrigin } from "../../src/http/page-files.ts";
import worker from "../../src/index.ts";
import { Client, type Reply } from "../support/client.ts";
import { exampleBody, publishedOperations as operations } from "../support/contract.ts";
import {
  articleOf,
  capture,
  linksOf,
  readPages,
  textOf,
  unescapeHtml,
} from "../support/reference-text.ts";

const OWN_ORIGIN = "https://longshore.test";

let pages: Map<string, Reply>;
beforeAll(async () => {
  pages = await readPages();
});

const pageOf = (path: string) => pages.get(path)?.text ?? "";
const allText = () => [...pages.values()].map(({ text }) => text).join("\n");

describe("the description of an operation", () => {
  it.each(operations.map((each) => [each.operationId, each] as const))(
    "is on exactly one page for %s, with what the script needs",
    (id, each) => {
      const [article = "", ...others] = articleOf(allText(), id);
      expect(others).toEqual([]);
      expect(article).toContain(each.summary);
      expect(textOf(article)).toContain(each.path);
      const [tag = ""] = /^[^>]*>/.exec(article) ?? [];
      expect(tag).toContain(`data-method="${each.method}"`);
      expect(tag).toContain(`data-path="${each.path}"`);
      const [credential] = each.security.flatMap((needed) => Object.keys(needed));
      expect(capture(tag, /data-credential="(\w+)"/g)).toEqual(credential ? [credential] : []);
      const [body] = capture(tag, /data-body="([^"]+)"/g).map((text) =>
        JSON.parse(unescapeHtml(text)),
      );
      const example = exampleBody(each);
      if (example) expect(body).toEqual(example);
      for (const { name, in: location } of each.parameters ?? []) {
        expect(article).toContain(`data-parameter="${name}" data-in="${location}"`);
      }
      expect(capture(article, /<section data-tab="(\w+)"/g)).toEqual(["curl", "cli", "typescript"]);
      expect(article).toContain('<h3>Response <span class="status">');
    },
  );

  it("marks required parameters, with their examples, and no others", () => {
    const [article = ""] = articleOf(pageOf("/docs/projects"), "listProjectsOfOrganization");
    const rows = capture(article, /<div (data-parameter=[^>]+)>/g);
    const required = rows.filter((row) => row.includes(" data-required"));
    expect(required).toHaveLength(1);
    expect(required[0]).toMatch(
      /^data-parameter="org_id" data-in="path" data-required data-example="\w{22}"$/,
    );
    expect(rows.length).toBeGreaterThan(1);
  });

  it("lists its errors, with an example of each, and links to their meanings", () => {
    const [operation = ""] = articleOf(pageOf("/docs/projects"), "createProject");
    const [errors = ""] = capture(operation, /<details class="errors">([\s\S]*?)<\/details>/g);
    const rows = capture(errors, /<tr><td>(\d+)<\/td>/g);
    expect(new Set(rows)).toEqual(
      new Set(["400", "401", "403", "404", "408", "409", "429", "500"]),
    );
    expect(errors).toContain("Unknown field; remove it.");
    expect(errors).toContain('href="/docs#error-bad_input"');
    expect(errors).not.toContain("#error-not_implemented");
    const count = capture(allText(), /(<details class="errors">)/g).length;
    expect(count).toBe(operations.length);
  });

  it("links to its schemas, scope, policy, credential and guide", () => {
    const [create = ""] = articleOf(pageOf("/docs/projects"), "createProject");
    expect(linksOf(create)).toEqual(
      expect.arrayContaining([
        "/docs#credential-api_key",
        "/docs#scope-projects-write",
        "/docs#about-the-policies",
        "/docs/guides/first-deployment",
        "/docs/schemas#schema-Project",
      ]),
    );
    const [health = ""] = articleOf(pageOf("/docs/service"), "readHealth");
    expect(linksOf(health).filter((link) => /#(scope|credential|about)/.test(link))).toEqual([]);
    const [reveal = ""] = articleOf(pageOf("/docs/variables"), "revealVariable");
    expect(linksOf(reveal)).toContain("/docs#scope-variables-reveal");
    expect(linksOf(reveal)).toContain("/docs/guides/variables");
  });

  it("can be tried where the request and the response are JSON only", () => {
    const canTry = (id: string) =>
      (articleOf(allText(), id)[0] ?? "").includes("<div data-try hidden></div>");
    expect(["createProject", "deleteProject", "listProjects", "bootstrap"].map(canTry)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(["exportAuditLog", "appendToLog"].map(canTry)).toEqual([false, false]);
  });
});

describe("the samples", () => {
  it("name the server that served the page, with its port", async () => {
    expect(textOf(pageOf("/docs/projects"))).toContain(`"${OWN_ORIGIN}/v1/projects"`);
    expect(textOf(pageOf("/docs/deliveries"))).toMatch(
      /"https:\/\/longshore\.test\/v1\/projects\/\w+\/\S+\/redeliver"/,
    );
    const named = [...pages].filter(([, { text }]) => textOf(text).includes("origin.invalid"));
    expect(named.map(([path]) => path)).toEqual([]);
    const other = new Client(undefined, () => {
      const address = "http://127.0.0.1:8911/docs";
      const request = new Request<unknown, IncomingRequestCfProperties>(address);
      return worker.fetch(request, env, createExecutionContext());
    });
    const { text } = await other.get("/docs");
    expect(textOf(text)).toContain('export LONGSHORE_URL="http://127.0.0.1:8911"');
    expect(text).not.toContain("origin.invalid");
    expect(text).not.toContain(OWN_ORIGIN);
  });

  it.each([
    ["http://localhost:8787/docs", "http://localhost:8787"],
    ["https://api.Example.com/docs?x=1", "https://api.example.com"],
    ["http://[2001:db8::1]:80/docs", "http://[2001:db8::1]"],
    ['https://a"b.example/docs', "https://longshore.example.com"],
    ["https://a'b.example/docs", "https://longshore.example.com"],
    ["https://$(id).example/docs", "https://longshore.example.com"],
    ["https://a`id`.example/docs", "https://longshore.example.com"],
    ["https://a&amp;.example/docs", "https://longshore.example.com"],
    ["https://a;id.example/docs", "https://longshore.example.com"],
  ])("for %s, name %s", (url, origin) => {
    expect(withOrigin('curl "https://origin.invalid/v1"', url)).toBe(`curl "${origin}/v1"`);
  });

  it("scroll separately, also by keyboard, and have names that are unique on their page", () => {
    for (const [path, { text }] of pages) {
      const blocks = capture(text, /<pre([^>]*)>/g);
      const labels = blocks.flatMap((each) => capture(each, /aria-label="([^"]+)"/g));
      expect(labels.length, path).toBe(blocks.length);
      expect(new Set(labels).size, path).toBe(blocks.length);
      expect(
        blocks.filter((each) => !each.includes('tabindex="0"')),
        path,
      ).toEqual([]);
    }
  });
});

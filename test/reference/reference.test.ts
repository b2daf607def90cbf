import { beforeAll, describe, expect, it } from "vitest";
import type { OpenApiDocument } from "../../src/http/openapi.ts";
import { renderReference } from "../../src/reference/page.ts";
import { Client, type Reply } from "../support/client.ts";
import { openApi, operations, resolve } from "../support/contract.ts";

const capture = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, captured = ""]) => captured);

/** A document with one operation, whose body and response are `schema`. */
function documentOf(schema: object, { summary = "Do it", schemas = {} } = {}): OpenApiDocument {
  const content = { "application/json": { schema: { ...schema } } };
  return {
    openapi: "3.1.0",
    info: { title: "Test", version: "1", description: "It is **bold** & `code`.\n\nAnd <more>." },
    tags: [{ name: "Things" }],
    components: { schemas: { Error: { type: "object" }, ...schemas } },
    paths: {
      "/things": {
        post: {
          operationId: "doIt",
          tags: ["Things"],
          summary,
          requestBody: { content },
          responses: { 200: { description: "Done.", content } },
        },
      },
    },
  };
}

describe("the page at /", () => {
  it("links to the reference, the document, the health and the source, and to the first key", async () => {
    const { status, headers, text } = await new Client(undefined).get("/");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-/,
    );
    expect(capture(text, /href="([^"]+)"/g).filter((link) => !link.startsWith("data:"))).toEqual([
      "/docs",
      "/openapi.json",
      "/health",
      "https://github.com/longshore/longshore",
      "/docs#bootstrap",
    ]);
    const reference = await new Client(undefined).get("/docs");
    expect(reference.text).toContain('id="bootstrap"');
  });
});

describe("the page at /docs", () => {
  let reply: Reply;
  beforeAll(async () => {
    reply = await new Client(undefined).get("/docs");
  });

  it("lists the errors of each operation, with an example of each", () => {
    const [, operation = ""] =
      /<article id="createProject"([\s\S]*?)<\/article>/.exec(reply.text) ?? [];
    const [, errors = ""] = /<details class="errors">([\s\S]*?)<\/details>/.exec(operation) ?? [];
    const rows = capture(errors, /<tr><td>(\d+)<\/td>/g);
    expect(new Set(rows)).toEqual(new Set(["400", "401", "403", "408", "409", "429", "500"]));
    expect(errors).toContain("Unknown field; remove it.");
    expect(errors).not.toContain("<code>forbidden</code>");
    const count = capture(reply.text, /(<details class="errors">)/g).length;
    expect(count).toBe(operations.length);
  });

  it("is HTML that caches may store", () => {
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")?.toLowerCase()).toBe("text/html; charset=utf-8");
    expect(reply.headers.get("cache-control")).toBe("public, max-age=300");
  });

  it("allows its own style by its hash, and no other resources", async () => {
    const [style = ""] = capture(reply.text, /<style>([\s\S]*?)<\/style>/g);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    expect(reply.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; ` +
        "form-action 'none'; frame-ancestors 'none'",
    );
    expect(reply.text).not.toMatch(/<script|\sstyle=|\ssrc=|\son\w+=/);
  });

  it.each(operations.map((each) => [each.operationId, each] as const))(
    "describes %s",
    (id, each) => {
      const [article = ""] = capture(
        reply.text,
        new RegExp(`<article id="${id}"([\\s\\S]*?)</article>`, "g"),
      );
      expect(article).toContain(each.summary);
      expect(article).toContain("$LONGSHORE_URL/");
      expect(article.replaceAll(/<[^>]+>/g, "")).toContain(each.path);
      expect(article.includes("$LONGSHORE_API_KEY")).toBe(
        each.security.some((credential) => "api_key" in credential),
      );
      for (const { name } of each.parameters ?? [])
        expect(article).toContain(`<code>${name}</code>`);
    },
  );

  it.each(Object.entries(openApi.webhooks))("describes the webhook %s", (type, { post }) => {
    const anchor = `webhook-${type.replace(".", "-")}`;
    const [article = ""] = capture(
      reply.text,
      new RegExp(`<article id="${anchor}"([\\s\\S]*?)</article>`, "g"),
    );
    expect(article).toContain(post.summary);
    expect(article).toContain(`<code>${type}</code>`);
    const text = article.replaceAll(/<[^>]+>/g, "").replaceAll("&quot;", '"');
    const schema = post.requestBody?.content["application/json"]?.schema;
    expect(text).toContain(JSON.stringify(resolve(schema ?? {})["example"], null, 2));
    expect(reply.text).toContain(`href="#${anchor}"`);
  });

  it("shows the headers and replies of webhooks once", () => {
    const [section = ""] = capture(reply.text, /<section id="webhooks"([\s\S]*?)<\/section>/g);
    const [post] = Object.values(openApi.webhooks).map((each) => each.post);
    const names = post?.parameters?.map(({ name }) => name) ?? [];
    expect(names).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
    const statuses = Object.keys(post?.responses ?? {});
    expect(statuses.toSorted()).toEqual(["2XX", "3XX", "410", "429", "default"]);
    for (const term of [
      ...names,
      ...statuses.map((each) => each.replace("default", "any other")),
    ]) {
      expect(section.split(`<dt><code>${term}</code>`)).toHaveLength(2);
    }
  });

  it("has one anchor for every link", () => {
    const anchors = capture(reply.text, /\sid="([^"]+)"/g);
    expect(new Set(anchors).size).toBe(anchors.length);
    const links = capture(reply.text, /\shref="([^"]+)"/g).filter(
      (link) => !link.startsWith("data:"),
    );
    const targets = [...anchors.map((anchor) => `#${anchor}`), "/openapi.json"];
    expect(links.filter((link) => !targets.includes(link))).toEqual([]);
  });

  it("lists each error code once", () => {
    const [, section = ""] = /<section id="errors"([\s\S]*?)<\/section>/.exec(reply.text) ?? [];
    expect(capture(section, /<th scope="row"><code>(\w+)<\/code>/g)).toHaveLength(10);
  });
});

describe("the rendering of a document", () => {
  it("renders bold text and code, and escapes all text", () => {
    const page = renderReference(
      documentOf({ type: "string", example: "<i>'\"" }, { summary: "<script>alert(1)</script>" }),
    );
    expect(page).toContain("<p>It is <strong>bold</strong> &amp; <code>code</code>.</p>");
    expect(page).toContain("<p>And &lt;more&gt;.</p>");
    expect(page).not.toContain("<script");
    expect(page).not.toContain("<i>'");
  });

  it("quotes a body for the shell", () => {
    const page = renderReference(documentOf({ type: "object", example: { name: "it's $HOME" } }));
    expect(page).toContain("&quot;it&#39;\\&#39;&#39;s $HOME&quot;");
  });

  it("sends a text from a file, as text", async () => {
    const { text } = await new Client(undefined).get("/docs");
    const [, section = ""] = text.split('id="appendToLog"');
    const [sample = ""] = section.split("</pre>");
    expect(sample).toContain("content-type: text/plain");
    expect(sample).toContain("--data-binary @output.txt");
  });

  it("describes references, nullable fields, maps and unions", () => {
    const page = renderReference(
      documentOf(
        {
          allOf: [
            { $ref: "#/components/schemas/Base" },
            {
              type: "object",
              required: ["either"],
              properties: {
                none: { type: ["string", "null"], maxLength: 5 },
                map: { type: "object", additionalProperties: { type: "integer" } },
                either: {
                  oneOf: [
                    { type: "object", properties: { left: { const: 1 } } },
                    { type: "object", properties: { right: { type: "boolean" } } },
                  ],
                },
                anything: {},
              },
            },
          ],
        },
        { schemas: { Base: { type: "object", properties: { own: { type: "string" } } } } },
      ),
    );
    const text = page.replaceAll(/<style>[\s\S]*<\/style>|<[^>]+>/g, "").replaceAll(/\s+/g, " ");
    for (const field of [
      "own string",
      "none string or null At most 5 characters",
      "map map of string to integer",
      "either object required One of these: left",
      "anything any value",
    ]) {
      expect(text).toContain(field);
    }
  });

  it("has no section for webhooks if there are none", () => {
    const page = renderReference(documentOf({ type: "string" }));
    expect(page).not.toContain("webhooks");
  });

  it("ends for a schema that contains itself", () => {
    const Tree = { type: "object", properties: { left: { $ref: "#/components/schemas/Tree" } } };
    const page = renderReference(
      documentOf({ $ref: "#/components/schemas/Tree" }, { schemas: { Tree } }),
    );
    expect(page).toContain("</html>");
  });
});

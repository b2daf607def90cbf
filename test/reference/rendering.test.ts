import { describe, expect, it } from "vitest";
import { Site } from "../../packages/reference/src/site.ts";
import type { OpenApiDocument } from "../../src/document/describe-api.ts";

const siteOf = (document: OpenApiDocument) => new Site({ document, guides: [], scriptHash: "1" });

/** All pages of a document. */
function renderReference(document: OpenApiDocument): string {
  const site = siteOf(document);
  return site.pages
    .filter(({ group }) => group !== "Guides")
    .map((page) => site.render(page))
    .join("\n");
}

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

describe("the rendering of a document", () => {
  it("renders bold text and code, and escapes all text", () => {
    const page = renderReference(
      documentOf({ type: "string", example: "<i>'\"" }, { summary: "<script>alert(1)</script>" }),
    );
    expect(page).toContain("<p>It is <strong>bold</strong> &amp; <code>code</code>.</p>");
    expect(page).toContain("<p>And &lt;more&gt;.</p>");
    expect(page).not.toContain("<script>alert");
    expect(page).not.toContain("<i>'");
  });

  it("quotes a body for the shell", () => {
    const page = renderReference(documentOf({ type: "object", example: { name: "it's $HOME" } }));
    expect(page).toContain("&quot;it&#39;\\&#39;&#39;s $HOME&quot;");
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
    const text = page.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]+>/g, "").replaceAll(/\s+/g, " ");
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
    expect(page).not.toContain("/docs/webhooks");
    const paths = siteOf(documentOf({ type: "string" })).pages.map(({ path }) => path);
    expect(paths).not.toContain("/docs/webhooks");
    expect(paths).toContain("/docs/things");
  });

  it("ends for a schema that contains itself", () => {
    const Tree = { type: "object", properties: { left: { $ref: "#/components/schemas/Tree" } } };
    const page = renderReference(
      documentOf({ $ref: "#/components/schemas/Tree" }, { schemas: { Tree } }),
    );
    expect(page).toContain("</html>");
  });
});

import { z } from "@hono/zod-openapi";
import { contentSecurityPolicy } from "../http/html-page.ts";
import type { OpenApiDocument } from "../http/openapi.ts";
import { operation } from "../http/operation.ts";
import { jsonReply } from "../http/replies.ts";
import { createRouter, type PublicEnv } from "../http/router.ts";
import { renderHome } from "./home-page.ts";
import { renderReference } from "./page.ts";
import { HOME_STYLE, STYLE } from "./style.ts";

const Document = z
  .looseObject({
    openapi: z.string().openapi({
      description: "The version of the OpenAPI specification.",
      example: "3.1.0",
    }),
  })
  .openapi({ description: "The members that OpenAPI 3.1 defines." });

const document = operation({
  method: "get",
  path: "/openapi.json",
  operationId: "readOpenApiDocument",
  tags: ["Service"],
  summary: "Read this description of the API",
  description:
    "The description of every operation, webhook and error, as an OpenAPI 3.1 document. Generate a " +
    "client from it, or import it into a tool. Caches may store it for five minutes.",
  credentials: [],
  responses: {
    200: jsonReply(Document, "An OpenAPI 3.1 document."),
  },
});

const reference = operation({
  method: "get",
  path: "/docs",
  operationId: "readReference",
  tags: ["Service"],
  summary: "Read this description of the API as a page",
  description: "The OpenAPI document as an HTML page, with an example of each request.",
  credentials: [],
  responses: {
    200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
  },
});

const home = operation({
  method: "get",
  path: "/",
  operationId: "readHome",
  tags: ["Service"],
  summary: "Read what this is",
  description: "An HTML page with links to the reference, the health and the source.",
  credentials: [],
  responses: {
    200: { description: "A page of HTML.", content: { "text/html": { schema: z.string() } } },
  },
});

const PUBLIC = { "cache-control": "public, max-age=300" };

/** Creates the document and the pages at their first request: some take tens of milliseconds. */
export function referenceRoutes(describe: () => OpenApiDocument) {
  let openApi: OpenApiDocument | undefined;
  let page: { html: string; policy: string } | undefined;
  let homePage: { html: string; policy: string } | undefined;
  const getOpenApi = () => {
    openApi ??= describe();
    return openApi;
  };
  return createRouter<PublicEnv>()
    .openapi(home, async (c) => {
      homePage ??= { html: renderHome(), policy: await contentSecurityPolicy(HOME_STYLE) };
      return c.html(homePage.html, 200, {
        ...PUBLIC,
        "content-security-policy": homePage.policy,
      });
    })
    .openapi(document, (c) => c.json(getOpenApi() as { openapi: string }, 200, PUBLIC))
    .openapi(reference, async (c) => {
      page ??= { html: renderReference(getOpenApi()), policy: await contentSecurityPolicy(STYLE) };
      return c.html(page.html, 200, { ...PUBLIC, "content-security-policy": page.policy });
    });
}

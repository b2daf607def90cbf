import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { contentSecurityPolicy } from "../http/html-page.ts";
import type { OpenApiDocument } from "../http/openapi.ts";
import { operation } from "../http/operation.ts";
import { jsonReply } from "../http/replies.ts";
import { createRouter, type PublicEnv } from "../http/router.ts";
import { SCRIPT } from "./generated/script.ts";
import { renderHome } from "./home-page.ts";
import { OVERVIEW_PATH, pathOfGuide, SCRIPT_PATH, SEARCH_INDEX_PATH } from "./links.ts";
import { withOrigin } from "./samples/origin.ts";
import { renderSearchIndex } from "./search-index.ts";
import { Site } from "./site.ts";
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

const PAGE_REPLY = {
  description: "A page of HTML.",
  content: { "text/html": { schema: z.string() } },
};

const reference = operation({
  method: "get",
  path: OVERVIEW_PATH,
  operationId: "readReference",
  tags: ["Service"],
  summary: "Read this description of the API as pages",
  description:
    "An HTML page with an introduction, and links to the guides and to the page of each operation.",
  credentials: [],
  responses: { 200: PAGE_REPLY },
});

const referencePage = operation({
  method: "get",
  path: "/docs/{page}",
  operationId: "readReferencePage",
  tags: ["Service"],
  summary: "Read a page of the reference",
  description:
    "An HTML page with the operations of one kind of record, the webhooks, or the schemas.",
  credentials: [],
  notFound: ["page"],
  request: {
    params: z.object({
      page: z.string().openapi({ description: "The name of the page.", example: "projects" }),
    }),
  },
  responses: { 200: PAGE_REPLY },
});

const guide = operation({
  method: "get",
  path: "/docs/guides/{guide}",
  operationId: "readGuide",
  tags: ["Service"],
  summary: "Read a guide",
  description: "An HTML page that explains a subject with examples.",
  credentials: [],
  notFound: ["page"],
  request: {
    params: z.object({
      guide: z.string().openapi({ description: "The name of the guide.", example: "variables" }),
    }),
  },
  responses: { 200: PAGE_REPLY },
});

const script = operation({
  method: "get",
  path: SCRIPT_PATH,
  operationId: "readReferenceScript",
  tags: ["Service"],
  summary: "Read the script of the reference",
  description: "The JavaScript of the pages, which are complete without it.",
  credentials: [],
  responses: {
    200: { description: "JavaScript.", content: { "text/javascript": { schema: z.string() } } },
  },
});

const SearchIndex = z
  .looseObject({
    operations: z
      .array(z.looseObject({}))
      .openapi({ description: "The operations, with their fields." }),
  })
  .openapi({ description: "Titles and links. Its members may change." });

const searchIndex = operation({
  method: "get",
  path: SEARCH_INDEX_PATH,
  operationId: "readSearchIndex",
  tags: ["Service"],
  summary: "Read what the search of the reference finds",
  description: "The titles and links of operations, fields, errors and guides.",
  credentials: [],
  responses: { 200: jsonReply(SearchIndex, "The index.") },
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

/** Creates the document and each page at its first request: some take tens of milliseconds. */
export function referenceRoutes(describe: () => OpenApiDocument) {
  const getOpenApi = once(describe);
  const getSite = once(() => new Site(getOpenApi()));
  const getSearchIndex = once(() => JSON.parse(renderSearchIndex(getSite().contract)));
  const getHome = once(async () => ({
    html: renderHome(),
    policy: await contentSecurityPolicy(HOME_STYLE),
  }));
  const getPolicy = once(() => contentSecurityPolicy(STYLE, { scripts: true }));
  const sendPage = async (c: Context, path: string) => {
    const text = withOrigin(getSite().read(path), c.req.url);
    return c.html(text, 200, { ...PUBLIC, "content-security-policy": await getPolicy() });
  };
  return (
    createRouter<PublicEnv>()
      .openapi(home, async (c) => {
        const { html, policy } = await getHome();
        return c.html(html, 200, { ...PUBLIC, "content-security-policy": policy });
      })
      .openapi(document, (c) => c.json(getOpenApi() as { openapi: string }, 200, PUBLIC))
      .openapi(reference, (c) => sendPage(c, OVERVIEW_PATH))
      // Before the pages, whose path has a parameter.
      .openapi(script, (c) =>
        c.body(SCRIPT, 200, { ...PUBLIC, "content-type": "text/javascript; charset=utf-8" }),
      )
      .openapi(searchIndex, (c) => c.json(getSearchIndex(), 200, PUBLIC))
      .openapi(guide, (c) => sendPage(c, pathOfGuide(c.req.valid("param").guide)))
      .openapi(referencePage, (c) => sendPage(c, `${OVERVIEW_PATH}/${c.req.valid("param").page}`))
  );
}

function once<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

import { z } from "@hono/zod-openapi";
import { apiRoute } from "../../../http/api-route.ts";
import { CACHED_MS } from "../../../http/page-files.ts";
import { createRouter } from "../../../http/router.ts";
import { NotFound } from "../../../lib/errors.ts";
import { durationOf } from "../../../lib/quantities.ts";

const Document = z
  .looseObject({
    openapi: z.string().openapi({
      description: "The version of the OpenAPI specification.",
      example: "3.1.0",
    }),
  })
  .openapi({ description: "The members that OpenAPI 3.1 defines." });

/** The type of the key is wide, because the types of zod-openapi allow no file for the literal. */
const content: Record<`${string}/json`, { schema: typeof Document }> = {
  "application/json": { schema: Document },
};

const PATH = "/openapi.json";

const read = apiRoute({
  method: "get",
  path: PATH,
  operationId: "readOpenApiDocument",
  tags: ["Service"],
  summary: "Read this description of the API",
  description:
    "The description of every operation, webhook and error, as an OpenAPI 3.1 document. Generate a " +
    `client from it, or import it into a tool. Caches may store it for ${durationOf(CACHED_MS)}.`,
  access: "public",
  responses: { 200: { description: "An OpenAPI 3.1 document.", content } },
});

/** The build has written the document: generating it takes tens of milliseconds. */
export const openApiRoutes = createRouter().openapi(read, async (c) => {
  const { method, url } = c.req.raw;
  const file = await c.var.ctx.installation.asset(new Request(url, { method }), PATH);
  if (!file) throw new NotFound("file");
  file.headers.delete("etag");
  return file;
});

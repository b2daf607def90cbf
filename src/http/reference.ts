import { createRoute, z } from "@hono/zod-openapi";
import type { Framed } from "./frame.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { ERROR_REPLIES, jsonReply } from "./replies.ts";
import { createRouter } from "./router.ts";

const document = createRoute({
  method: "get",
  path: "/openapi.json",
  operationId: "readOpenApiDocument",
  tags: ["Service"],
  summary: "Read this description of the API",
  security: [],
  responses: {
    200: jsonReply(z.looseObject({ openapi: z.string() }), "An OpenAPI 3.1 document."),
    ...ERROR_REPLIES,
  },
});

const PUBLIC = { "cache-control": "public, max-age=300" };

/** Serves the OpenAPI document, which is made when it is first asked for. */
export function referenceRoutes(describe: () => OpenApiDocument) {
  let once: OpenApiDocument | undefined;
  return createRouter<Framed>().openapi(document, (c) => {
    once ??= describe();
    return c.json(once as { openapi: string }, 200, PUBLIC);
  });
}

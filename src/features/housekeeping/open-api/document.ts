import { z } from "@hono/zod-openapi";
import type { FeatureDocument, OperationDocuments } from "../../../document/feature-document.ts";
import { CACHED_MS } from "../../../http/page-files.ts";
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

const operations = {
  readOpenApiDocument: {
    tags: ["Service"],
    summary: "Read this description of the API",
    description:
      "The description of every operation, webhook and error, as an OpenAPI 3.1 document. Generate a " +
      `client from it, or import it into a tool. Caches may store it for ${durationOf(CACHED_MS)}.`,
    responses: { 200: { description: "An OpenAPI 3.1 document.", content } },
  },
} satisfies OperationDocuments;

export type Documented = typeof operations;

export const document: FeatureDocument = { operations };

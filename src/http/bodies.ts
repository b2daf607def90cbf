import { z } from "@hono/zod-openapi";

/** `required`, because otherwise a request without a content type is not validated. */
export function jsonBody<Schema extends z.ZodType>(schema: Schema) {
  return { required: true, content: { "application/json": { schema } } } as const;
}

/** Bytes. `required` as of `jsonBody`. */
export function textBody(description: string, example: string) {
  const schema = z.string().openapi({ description, format: "binary", example });
  return { required: true, content: { "text/plain": { schema } } };
}

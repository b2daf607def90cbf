import type { z } from "@hono/zod-openapi";
import type { VariableInput as VariableSchema } from "./schemas.ts";
import type { VariableInput } from "./service.ts";

export function toVariableInput(body: z.output<typeof VariableSchema>): VariableInput {
  const { name, storage_method, value } = body;
  return { name, storageMethod: storage_method, value };
}

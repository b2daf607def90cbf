import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { textParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { clearable, Identifier, IdentifierInput, Timestamp, text } from "../../lib/schemas.ts";

const Name = text(LIMITS.stackNameLength.value).openapi({
  description: "Unique in the environment, for example the stack's name at the provider.",
  example: "api-production",
});

export const Stack = z
  .object({
    id: Identifier,
    project_id: Identifier,
    environment_id: Identifier,
    component_id: Identifier.optional(),
    name: Name,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Stack");

export const StackList = envelopeOf(Stack, "StackList");

export const StackInput = z
  .strictObject({
    name: Name,
    component_id: clearable(IdentifierInput).openapi({
      description: "A component of the environment. Absent: no component.",
    }),
  })
  .openapi("StackInput", { example: { name: "api-production" } });

export const StackParams = z.object(textParam("stack_id", "stack"));

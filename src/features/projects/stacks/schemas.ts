import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { textParam } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  CHANGED_FIELDS,
  clearable,
  component,
  identifierInput,
  nameInput,
} from "../../../lib/schemas.ts";

export const Name = lazy(() =>
  nameInput(LIMITS.stackNameLength.value).openapi(
    documented(() => ({
      description: "Unique in the environment, for example the stack's name at the provider.",
      example: "api-production",
    })),
  ),
);

export const StackInput = component("StackInput", () =>
  z
    .strictObject({
      name: Name(),
      component_id: clearable(identifierInput("component")).openapi(
        documented(() => ({
          description: "A component of the environment. Absent or null: no component.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "All fields of a stack that a request can set.",
        example: { name: "api-production", component_id: EXAMPLE_IDS.component },
      })),
    ),
);

export const UpdateStack = component("UpdateStack", () =>
  z
    .strictObject({
      name: Name().optional(),
      component_id: identifierInput("component")
        .nullable()
        .optional()
        .openapi(
          documented(() => ({
            description: "A component of the environment. Null: no component.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: CHANGED_FIELDS,
        example: { name: "api-production-eu" },
      })),
    ),
);

export const StackParams = lazy(() => z.object(textParam("stack_id", "stack", "stack")));

import { z } from "@hono/zod-openapi";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { identifierInput, identifierOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/schemas.ts";
import { Variable } from "../../projects/variables/schemas.ts";
import { PatchOperation } from "../deployments/patch-schemas.ts";
import { Deployment } from "../deployments/schemas.ts";

export const ComparisonQuery = z.object({
  with: identifierInput("stagingEnvironment").openapi({
    description: "The ID of the other environment.",
  }),
});

const ComparedVariable = z
  .object({
    name: z.string().openapi({ description: "What programs read it as.", example: "DATABASE_URL" }),
    component: z.string().optional().openapi({
      description: "The name of its component. Absent: it belongs to the environment.",
      example: "api",
    }),
  })
  .openapi("ComparedVariable", { description: "A variable without its value." });

const MovedVariable = ComparedVariable.extend({
  storage_method: Variable.shape.storage_method,
  with_storage_method: Variable.shape.storage_method,
}).openapi("DifferentlyStoredVariable", {
  description: "A variable that the two environments store by different methods.",
});

const ComparedEnvironment = z
  .object({
    id: identifierOf("environment", "Read it with `GET /v1/environments/{environment_id}`."),
    name: Environment.shape.name,
    source: Deployment.shape.data.shape.source.openapi({
      description:
        "What its last successful deployment has deployed. Absent if none, and for a key without the scope " +
        "`deployments:read`.",
    }),
  })
  .openapi("ComparedEnvironment", {
    description: "One of the two environments.",
    example: { id: EXAMPLE_IDS.environment, name: "production" },
  });

export const EnvironmentComparison = z
  .object({
    environment: ComparedEnvironment,
    with: ComparedEnvironment,
    same_source: z.boolean().optional().openapi({
      description:
        "Whether both have the same source. Absent for a key without the scope `deployments:read`.",
    }),
    configuration: z.array(PatchOperation).openapi({
      description: "What makes the configuration of the environment that of the other.",
    }),
    variables: z
      .object({
        missing: z
          .array(ComparedVariable)
          .openapi({ description: "The other environment alone has them." }),
        extra: z
          .array(ComparedVariable)
          .openapi({ description: "The environment alone has them." }),
        stored_differently: z
          .array(MovedVariable)
          .openapi({ description: "Both have them, by different methods." }),
      })
      .optional()
      .openapi({
        description:
          "The names that differ, in the environments and their components, which are matched by name. Absent " +
          "for a key without the scope `variables:read`.",
      }),
  })
  .openapi("EnvironmentComparison", {
    description: "What differs between two environments of a project.",
  });

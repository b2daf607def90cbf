import { z } from "@hono/zod-openapi";
import type { ApiError } from "../../../lib/errors.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, identifiersOf } from "../../../lib/schemas.ts";
import { Waiting } from "../conditions/schemas.ts";
import { PatchOperation } from "./patch-schemas.ts";
import { Source } from "./source-schemas.ts";

/** Its schema is in the document alone, which describes the errors of all operations. */
const PreviewError = (z.unknown() as z.ZodType<Pick<ApiError, "code" | "message">>).openapi({
  $ref: "#/components/schemas/Error",
  description: "The error that the request would return now. Absent if it would succeed.",
} as object);

const ReferencePreview = z
  .object({
    stack_id: identifierOf("stack", "The stack whose settings have the reference."),
    pointer: z.string().openapi({
      description: "Where it is in the configuration: a JSON Pointer.",
      example: "/stacks/web/environment/BUCKET",
    }),
    reference: z.string().openapi({
      description: "As it is written.",
      example: `\${outputs.infra.bucket}`,
    }),
    value: z.string().optional().openapi({
      description: "What it stands for now. Absent if it has no value yet, and for a variable.",
      example: "shop-assets",
    }),
    note: z.string().optional().openapi({
      description:
        "Why it has no value, or why the value may be another one when the deployment runs.",
      example: 'From the last success of "infra". This deployment runs "infra" again first.',
    }),
  })
  .openapi("ReferencePreview", { description: "A reference in the settings of an executor." });

export const DeploymentPreview = z
  .object({
    environment_id: identifierOf("environment", "The environment that would be deployed."),
    patch: z
      .array(PatchOperation)
      .optional()
      .openapi({
        description:
          "What the deployment would change in the environment's present configuration. Absent if its " +
          "own configuration is no longer stored, or its patch does not apply.",
      }),
    source: Source.optional().openapi({ description: "What would be deployed. Absent if none." }),
    stack_ids: identifiersOf("stack").openapi({
      description: "The stacks that would be deployed, in this order.",
    }),
    references: z.array(ReferencePreview).openapi({
      description: `The first ${LIMITS.previewedReferences.value} references in the settings of the stacks to deploy.`,
    }),
    superseded_ids: identifiersOf("deployment").openapi({
      description: "The queued deployments that the new one would replace, the oldest first.",
    }),
    changed_variables: z
      .array(z.string())
      .optional()
      .openapi({
        description:
          "Of a redeploy, which uses the variables as they are when it runs: the names of those that " +
          "somebody has created, changed or deleted since the deployment was created, in the " +
          "environment and its components. Deleted ones are found in the newest " +
          `${LIMITS.variablesOfEnvironment.value} entries of the project's changelog, except those deleted with ` +
          "their component. Absent for a key without the scope `variables:read`.",
      }),
    waiting_for: z.array(Waiting).openapi({
      description:
        "What it would wait for: the rules of the environment, freezes, the deployment that is running, and a runner if " +
        "none is online. Empty if nothing.",
    }),
    error: PreviewError.optional(),
  })
  .openapi("DeploymentPreview", {
    description: "What a deployment, a redeploy or a promotion would do now.",
    example: {
      environment_id: EXAMPLE_IDS.environment,
      patch: [{ op: "replace", path: "/replicas", value: 3, old_value: 2 }],
      source: { registry: { image: "ghcr.io/acme/shop:1.4.2" } },
      stack_ids: [EXAMPLE_IDS.stack],
      superseded_ids: [],
      changed_variables: ["LOG_LEVEL"],
      waiting_for: [
        {
          code: "approvals",
          message: "0 of 1 approval by owners of the project and admins of the organization.",
          expires_at: "2026-11-22T09:30:00.000Z",
        },
      ],
    },
  });

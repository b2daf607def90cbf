import { z } from "@hono/zod-openapi";
import { ErrorBody } from "../../../document/replies.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/responses.ts";
import { DEPLOYMENT_STATUSES, STACK_STATUSES } from "./lifecycle.ts";
import { FROM, OperationName, PATH, TOO_LARGE, VALUE } from "./schemas.ts";
import { Source } from "./source-schemas.ts";

export const ConfigurationChange = component("ConfigurationChange", () =>
  z
    .object({
      before: Environment().shape.configuration.optional(),
      after: Environment().shape.configuration.optional(),
      diff: z
        .array(PatchOperation())
        .optional()
        .openapi({
          description:
            "What turns `before` into `after`: one operation for each value that differs, `add`, " +
            "`remove` or `replace`.",
        }),
    })
    .openapi({
      description:
        "A deployment's configuration. `before` is the environment's configuration that the deployment " +
        "is based on, and `after` what it becomes if the deployment succeeds. All are absent if they " +
        "are no longer stored; `before` and `diff` also if the deployment has no `old_value`s.",
      example: {
        before: { replicas: 2 },
        after: { replicas: 3 },
        diff: [{ op: "replace", path: "/replicas", value: 3, old_value: 2 }],
      },
    }),
);

export const DeploymentPreview = component("DeploymentPreview", () =>
  z
    .object({
      environment_id: identifierOf("environment", "The environment that would be deployed."),
      patch: z
        .array(PatchOperation())
        .optional()
        .openapi({
          description:
            "What the deployment would change in the environment's present configuration. Absent if its " +
            "own configuration is no longer stored.",
        }),
      source: Source()
        .optional()
        .openapi({ description: "What would be deployed. Absent if none." }),
      stack_ids: identifiersOf("stack").openapi({
        description: "The stacks that would be deployed, in this order.",
      }),
      superseded_ids: identifiersOf("deployment").openapi({
        description: "The queued deployments that the new one would replace, the oldest first.",
      }),
      error: ErrorBody().optional().openapi({
        description: "The error that the request would return now. Absent if it would succeed.",
      }),
    })
    .openapi({
      description: "What a redeploy or a promotion would do now.",
      example: {
        environment_id: EXAMPLE_IDS.environment,
        patch: [{ op: "replace", path: "/replicas", value: 3, old_value: 2 }],
        source: { registry: { image: "ghcr.io/acme/shop:1.4.2" } },
        stack_ids: [EXAMPLE_IDS.stack],
        superseded_ids: [],
      },
    }),
);

export const StackStatusName = component("StackStatus", () =>
  z.enum(STACK_STATUSES).openapi({
    description:
      "`pending` until the runner reports the stack. `skipped` if the runner had nothing to do, or " +
      "the deployment ended before it reached the stack.",
  }),
);

const Status = component("DeploymentStatus", () =>
  z.enum(DEPLOYMENT_STATUSES).openapi({
    description:
      "`queued` until a runner starts the deployment; `in_progress` until the runner completes it; " +
      "`canceling` while the runner is asked to cancel; `superseded` if a newer deployment replaced " +
      "it before the start.",
  }),
);

export const PatchOperation = component("PatchOperation", () =>
  z
    .object({
      op: OperationName(),
      path: z.string().openapi({ description: PATH, example: "/replicas" }),
      from: z.string().optional().openapi({ description: FROM }),
      value: z.unknown().optional().openapi({ description: VALUE }),
      old_value: z
        .unknown()
        .optional()
        .openapi({
          description: `The previous value at \`path\`. Absent if the patch with all old values ${TOO_LARGE}.`,
        }),
    })
    .openapi({
      description: "One operation of a JSON Patch, with the value that it replaces.",
      example: { op: "replace", path: "/replicas", value: 3, old_value: 2 },
    }),
);

const StackOfDeployment = component("StackOfDeployment", () =>
  z
    .object({
      id: identifierOf("stack", "The stack. It may be deleted by now."),
      status: StackStatusName(),
      status_reason: z.string().optional().openapi({
        description: "Why the stack has this status, as the runner or the service states it.",
        example: "The bucket name is taken",
      }),
      timestamp: timestampOf("When the status last changed."),
    })
    .openapi({ description: "What a deployment has done to one of its stacks so far." }),
);

export const Deployment = component("Deployment", () =>
  z
    .object({
      id: identifierOf("deployment", "The deployment's own ID."),
      environment_id: identifierOf("environment", "The environment that is deployed."),
      status: Status(),
      stack_ids: identifiersOf("stack").openapi({
        description: "The stacks to deploy, in this order. Some may be deleted by now.",
      }),
      data: z
        .object({
          patch: z.array(PatchOperation()).openapi({
            description: "What the deployment changes in the environment's configuration.",
          }),
          source: Source().optional().openapi({
            description: "What is deployed. Absent if the request gave none.",
          }),
          stacks: z.array(StackOfDeployment()).optional().openapi({
            description:
              "The progress of each stack, in the order of `stack_ids`. Absent if there are none.",
          }),
        })
        .openapi({ description: "What the deployment does, and how far it is." }),
      created_at: timestampOf("When the deployment was queued."),
      started_at: timestampOf("When a runner started it. Absent before.").optional(),
      finished_at: timestampOf("When it reached its final status. Absent before.").optional(),
      updated_at: timestampOf("When the deployment last changed."),
    })
    .openapi({
      description: "A move of an environment's stacks to a new configuration and source.",
    }),
);

export const DeploymentList = envelopeOf(Deployment, "DeploymentList");

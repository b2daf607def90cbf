import { z } from "@hono/zod-openapi";
import { ErrorBody } from "../../document/replies.ts";
import { envelopeOf, ListQuery } from "../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { documentProblem } from "../../lib/json-document.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  component,
  enumFilter,
  identifierInput,
  identifierOf,
  identifiersOf,
  text,
  timestampOf,
} from "../../lib/schemas.ts";
import { LINE } from "../../lib/text-patterns.ts";
import { Environment } from "../environments/index.ts";
import { DEPLOYMENT_STATUSES, QUEUES, StackStatusName } from "./lifecycle.ts";
import { OPERATIONS } from "./patch.ts";
import { Source } from "./source-schemas.ts";

const { patchOperations, pointerLength, deploymentStacks } = LIMITS;

const TOO_LARGE = `exceeds ${LIMITS.patchBytes.value / 1024} KiB`;

const Status = component("DeploymentStatus", () =>
  z.enum(DEPLOYMENT_STATUSES).openapi({
    description:
      "`queued` until a runner starts the deployment; `in_progress` until the runner completes it; " +
      "`canceling` while the runner is asked to cancel; `superseded` if a newer deployment replaced " +
      "it before the start.",
  }),
);

const OperationName = component("PatchOperationName", () =>
  z.enum(OPERATIONS).openapi({ description: "The operation, as RFC 6902 defines it." }),
);

const PATH = "The place to change, as a JSON Pointer (RFC 6901).";
const FROM = "The place to move or copy from, as a JSON Pointer. Only for `move` and `copy`.";
const VALUE = "The value to add, replace with or compare. Only for `add`, `replace` and `test`.";

const PatchOperation = component("PatchOperation", () =>
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

const PointerInput = lazy(() =>
  z
    .string()
    .max(pointerLength.value, `Send at most ${pointerLength.value} characters.`)
    .refine((path) => path.isWellFormed(), "Send a path without lone surrogates.")
    .refine((path) => LINE.test(path), "Send a path without control characters.")
    .openapi({ pattern: LINE.source }),
);

const REQUIRED_MEMBER = {
  add: "value",
  replace: "value",
  test: "value",
  move: "from",
  copy: "from",
  remove: undefined,
} as const satisfies Record<(typeof OPERATIONS)[number], "value" | "from" | undefined>;

const PatchOperationInput = component("PatchOperationInput", () =>
  z
    .strictObject({
      op: OperationName(),
      path: PointerInput().openapi({ description: PATH, example: "/replicas" }),
      from: PointerInput().optional().openapi({ description: FROM }),
      value: z.unknown().optional().openapi({ description: VALUE }),
    })
    .superRefine(({ value }, ctx) => {
      const problem = documentProblem(value);
      if (!problem) return;
      const { path, message } = problem;
      ctx.addIssue({ code: "custom", path: ["value", ...path], message });
    })
    .superRefine((operation, ctx) => {
      const member = REQUIRED_MEMBER[operation.op];
      if (member === undefined || operation[member] !== undefined) return;
      const message = `Send ${member}: ${operation.op} needs it.`;
      ctx.addIssue({ code: "custom", path: [member], message });
    })
    .openapi({
      description: "One operation of a JSON Patch (RFC 6902).",
      example: { op: "replace", path: "/replicas", value: 3 },
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

const Queue = component("DeploymentQueue", () =>
  z.enum(QUEUES).openapi({
    description:
      "`supersede`, the default, replaces queued deployments of the environment; `fifo` waits " +
      "until they have ended.",
  }),
);

export const CreateDeployment = component("CreateDeployment", () =>
  z
    .strictObject({
      patch: z
        .array(PatchOperationInput())
        .max(patchOperations.value, `Send at most ${patchOperations.value} operations.`)
        .optional()
        .openapi({
          description:
            "A JSON Patch (RFC 6902) of the environment's configuration. Default: no change. Refused " +
            `if the patch, with the values that it replaces, ${TOO_LARGE}.`,
        }),
      source: Source().optional().openapi({
        description: "What to deploy. Runners receive it unchanged.",
      }),
      stack_ids: z
        .array(identifierInput("stack"))
        .max(deploymentStacks.value, `Send at most ${deploymentStacks.value} stacks.`)
        .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.")
        .optional()
        .openapi({ description: "Stacks of the environment, in this order. Default: all stacks." }),
      queue: Queue().optional(),
      reason: text(LIMITS.descriptionLength.value).optional().openapi({
        description: "Why the deployment is made. It is stored; no response contains it.",
        example: "More traffic",
      }),
    })
    .openapi({
      description: "The deployment to create. Every field is optional.",
      example: { patch: [{ op: "add", path: "/replicas", value: 3 }], reason: "More traffic" },
    }),
);

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

export const PromoteDeployment = component("PromoteDeployment", () =>
  z
    .strictObject({
      environment_id: identifierInput("environment").openapi({
        description: "The environment to deploy: another one of the same project.",
      }),
    })
    .openapi({
      description: "Where to promote the deployment.",
      example: { environment_id: EXAMPLE_IDS.environment },
    }),
);

const deploymentParam = lazy(() => textParam("deployment_id", "deployment", "deployment"));

export const DeploymentParams = lazy(() => z.object(deploymentParam()));
export const DeploymentOfEnvironmentParams = lazy(() =>
  EnvironmentParams().extend(deploymentParam()),
);

export const DeploymentQuery = lazy(() =>
  ListQuery().extend({
    status: enumFilter("DeploymentStatus", DEPLOYMENT_STATUSES).openapi({
      description: "Only deployments with one of these statuses. Default: all.",
    }),
  }),
);

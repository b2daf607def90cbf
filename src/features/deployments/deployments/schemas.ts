import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../../http/params.ts";
import { documentProblem } from "../../../lib/json-document.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { component, enumFilter, identifierInput, type Output, text } from "../../../lib/schemas.ts";
import { LINE } from "../../../lib/text-patterns.ts";
import { OVERRIDABLE } from "../conditions/index.ts";
import { DEPLOYMENT_STATUSES, QUEUES } from "./lifecycle.ts";
import { OPERATIONS } from "./patch.ts";
import { Source } from "./source-schemas.ts";

const { patchOperations, pointerLength, deploymentStacks } = LIMITS;

export const TOO_LARGE = documented(() => `exceeds ${sizeOf(LIMITS.patchBytes.value)}`);

export const OperationName = component("PatchOperationName", () =>
  z
    .enum(OPERATIONS)
    .openapi(documented(() => ({ description: "The operation, as RFC 6902 defines it." }))),
);

export const PATH = documented(() => "The place to change, as a JSON Pointer (RFC 6901).");
export const FROM = documented(
  () => "The place to move or copy from, as a JSON Pointer. Only for `move` and `copy`.",
);
export const VALUE = documented(
  () => "The value to add, replace with or compare. Only for `add`, `replace` and `test`.",
);

const PointerInput = lazy(() =>
  z
    .string()
    .max(pointerLength.value, `Send at most ${pointerLength.value} characters.`)
    .refine((path) => path.isWellFormed(), "Send a path without lone surrogates.")
    .refine((path) => LINE.test(path), "Send a path without control characters.")
    .openapi(documented(() => ({ pattern: LINE.source }))),
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
      path: PointerInput().openapi(documented(() => ({ description: PATH, example: "/replicas" }))),
      from: PointerInput()
        .optional()
        .openapi(documented(() => ({ description: FROM }))),
      value: z
        .unknown()
        .optional()
        .openapi(documented(() => ({ description: VALUE }))),
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
    .openapi(
      documented(() => ({
        description: "One operation of a JSON Patch (RFC 6902).",
        example: { op: "replace", path: "/replicas", value: 3 },
      })),
    ),
);

const Queue = component("DeploymentQueue", () =>
  z.enum(QUEUES).openapi(
    documented(() => ({
      description:
        "`supersede`, the default, replaces queued deployments of the environment; `fifo` waits " +
        "until they have ended.",
    })),
  ),
);

export const CreateDeployment = component("CreateDeployment", () =>
  z
    .strictObject({
      patch: z
        .array(PatchOperationInput())
        .max(patchOperations.value, `Send at most ${patchOperations.value} operations.`)
        .optional()
        .openapi(
          documented(() => ({
            description:
              "A JSON Patch (RFC 6902) of the environment's configuration. Default: no change. Refused " +
              `if the patch, with the values that it replaces, ${TOO_LARGE}.`,
          })),
        ),
      source: Source()
        .nullish()
        .openapi(
          documented(() => ({
            description:
              "What to deploy. Runners receive it unchanged. Absent: what the environment runs when the " +
              "deployment starts. Null: nothing.",
          })),
        ),
      stack_ids: z
        .array(identifierInput("stack"))
        .max(deploymentStacks.value, `Send at most ${deploymentStacks.value} stacks.`)
        .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.")
        .optional()
        .openapi(
          documented(() => ({
            description: "Stacks of the environment, in this order. Default: all stacks.",
          })),
        ),
      queue: Queue().optional(),
      reason: text(LIMITS.descriptionLength.value)
        .optional()
        .openapi(
          documented(() => ({
            description: "Why the deployment is made, for those who read about it.",
            example: "More traffic",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The deployment to create. Every field is optional.",
        example: { patch: [{ op: "add", path: "/replicas", value: 3 }], reason: "More traffic" },
      })),
    ),
);

export function toInput({
  patch = [],
  queue = "supersede",
  ...rest
}: Output<typeof CreateDeployment>) {
  return { patch, queue, source: rest.source, stackIds: rest.stack_ids, reason: rest.reason };
}

export const PromoteDeployment = component("PromoteDeployment", () =>
  z
    .strictObject({
      environment_id: identifierInput("environment").openapi(
        documented(() => ({
          description: "The environment to deploy: another one of the same project.",
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "Where to promote the deployment.",
        example: { environment_id: EXAMPLE_IDS.environment },
      })),
    ),
);

export const OverridableCondition = component("OverridableCondition", () =>
  z
    .enum(OVERRIDABLE)
    .openapi(
      documented(() => ({ description: "A code of `waiting_for` that may be overridden." })),
    ),
);

export const OverrideDeployment = component("OverrideDeployment", () =>
  z
    .strictObject({
      reason: text(LIMITS.descriptionLength.value).openapi(
        documented(() => ({ description: "Why. It stays visible.", example: "The shop is down" })),
      ),
      conditions: z
        .array(OverridableCondition())
        .min(1)
        .max(OVERRIDABLE.length)
        .openapi(documented(() => ({ description: "What shall not hold the deployment." }))),
    })
    .openapi(
      documented(() => ({
        description: "Which conditions to override.",
        example: { reason: "The shop is down", conditions: ["freeze"] },
      })),
    ),
);

const deploymentParam = lazy(() => textParam("deployment_id", "deployment", "deployment"));

export const DeploymentParams = lazy(() => z.object(deploymentParam()));
export const DeploymentOfEnvironmentParams = lazy(() =>
  EnvironmentParams().extend(deploymentParam()),
);

export const DeploymentQuery = lazy(() =>
  ListQuery().extend({
    status: enumFilter("DeploymentStatus", DEPLOYMENT_STATUSES).openapi(
      documented(() => ({
        description: "Only deployments with one of these statuses. Default: all.",
      })),
    ),
  }),
);

export function toDeploymentPage(query: Output<typeof DeploymentQuery>) {
  return { ...toPageRequest(query), statuses: query.status ?? [] };
}

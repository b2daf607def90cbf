import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery, toPageRequest } from "../../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import {
  DeploymentTrigger,
  enumFilter,
  identifierInput,
  identifierOf,
  identifiersOf,
  text,
  timestampOf,
} from "../../../lib/schemas.ts";
import { EXEMPTIONS } from "../../projects/access/model.ts";
import { OVERRIDABLE } from "../conditions/index.ts";
import { Waiting } from "../conditions/schemas.ts";
import { CREATOR_TYPES, DEPLOYMENT_STATUSES, QUEUES, STACK_STATUSES } from "./lifecycle.ts";
import { PatchOperation, PatchOperationInput, secondsOf, TOO_LARGE } from "./patch-schemas.ts";
import { Source, SourceInput } from "./source-schemas.ts";

const { patchOperations, deploymentStacks } = LIMITS;

const Queue = z.enum(QUEUES).openapi("DeploymentQueue", {
  description:
    "`supersede`, the default, replaces queued deployments of the environment; `fifo` waits " +
    "until they have ended.",
});

const StackIds = z
  .array(identifierInput("stack"))
  .max(deploymentStacks.value, `Send at most ${deploymentStacks.value} stacks.`)
  .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.");

const Reason = text(LIMITS.descriptionLength.value).openapi({
  description: "Why the deployment is made, for those who read about it.",
  example: "More traffic",
});

export const CreateDeployment = z
  .strictObject({
    patch: z
      .array(PatchOperationInput)
      .max(patchOperations.value, `Send at most ${patchOperations.value} operations.`)
      .optional()
      .openapi({
        description:
          "A JSON Patch (RFC 6902) of the environment's configuration. Default: no change. Refused " +
          `if the patch, with the values that it replaces, ${TOO_LARGE}.`,
      }),
    source: SourceInput.nullish().openapi({
      description:
        "What to deploy. Runners receive it unchanged. Absent: what the environment runs when the " +
        "deployment starts. Null: nothing.",
    }),
    stack_ids: StackIds.optional().openapi({
      description:
        "Stacks of the environment, in this order as far as they do not need each other. Default: all stacks.",
    }),
    queue: Queue.optional(),
    reason: Reason.optional(),
    continue_on_failure: z.boolean().default(false).openapi({
      description:
        "Whether the stacks that do not need a failed one are deployed. Default: false: no other stack starts.",
    }),
  })
  .openapi("CreateDeployment", {
    description: "The deployment to create. Every field is optional.",
    example: { patch: [{ op: "add", path: "/replicas", value: 3 }], reason: "More traffic" },
  });

export function toInput({
  patch = [],
  queue = "supersede",
  ...rest
}: z.output<typeof CreateDeployment>) {
  return {
    ...{ patch, queue, source: rest.source, stackIds: rest.stack_ids, reason: rest.reason },
    continueOnFailure: rest.continue_on_failure,
  };
}

export const PromoteDeployment = z
  .strictObject({
    environment_id: identifierInput("environment").openapi({
      description: "The environment to deploy: another one of the same project.",
    }),
    stack_ids: StackIds.optional().openapi({
      description:
        "Stacks of that environment, in this order as far as they do not need each other. Default: all stacks.",
    }),
    reason: Reason.optional(),
  })
  .openapi("PromoteDeployment", {
    description: "Where to promote the deployment.",
    example: { environment_id: EXAMPLE_IDS.environment },
  });

export function toPromotion({
  environment_id: environmentId,
  stack_ids: stackIds,
  reason,
}: z.output<typeof PromoteDeployment>) {
  return { environmentId, stackIds, reason };
}

export const PromotionQuery = z.object({
  stack_ids: z
    .union([z.string(), z.array(z.string())])
    .transform((sent) => [sent].flat().flatMap((each) => each.split(",")))
    .pipe(StackIds)
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: "The stacks of the environment that would be deployed. Default: all stacks.",
    }),
});

export const OverridableCondition = z.enum(OVERRIDABLE).openapi("OverridableCondition", {
  description: "A code of `waiting_for` that may be overridden.",
});

export const OverrideDeployment = z
  .strictObject({
    reason: text(LIMITS.descriptionLength.value).openapi({
      description: "Why. It stays visible.",
      example: "The shop is down",
    }),
    conditions: z
      .array(OverridableCondition)
      .min(1)
      .max(OVERRIDABLE.length)
      .openapi({ description: "What shall not hold the deployment." }),
  })
  .openapi("OverrideDeployment", {
    description: "Which conditions to override.",
    example: { reason: "The shop is down", conditions: ["freeze"] },
  });

const deploymentParam = textParam("deployment_id", "deployment", "deployment");

export const DeploymentParams = z.object(deploymentParam);

export const DeploymentOfEnvironmentParams = EnvironmentParams.extend(deploymentParam);

export const DeploymentQuery = ListQuery.extend({
  status: enumFilter("DeploymentStatus", DEPLOYMENT_STATUSES).openapi({
    description: "Only deployments with one of these statuses. Default: all.",
  }),
});

export function toDeploymentPage(query: z.output<typeof DeploymentQuery>) {
  return { ...toPageRequest(query), statuses: query.status ?? [] };
}

export const StackStatusName = z.enum(STACK_STATUSES).openapi("StackStatus", {
  description:
    "`pending` until the runner reports the stack. `skipped` if the runner had nothing to do, a stack that it needs has " +
    "failed, or the deployment ended before it reached the stack.",
});

const Status = z.enum(DEPLOYMENT_STATUSES).openapi("DeploymentStatus", {
  description:
    "`queued` until a runner starts the deployment; `in_progress` until the runner completes it; " +
    "`canceling` while the runner is asked to cancel; `superseded` if a newer deployment replaced " +
    "it before the start.",
});

const StackOfDeployment = z
  .object({
    id: identifierOf("stack", "The stack. It may be deleted by now."),
    status: StackStatusName,
    status_reason: z.string().optional().openapi({
      description: "Why the stack has this status, as the runner or the service states it.",
      example: "The bucket name is taken",
    }),
    timestamp: timestampOf("When the status last changed."),
    started_at: timestampOf("When the runner first reported the stack.").optional(),
    run_seconds: secondsOf("From `started_at` to its final status.").optional(),
  })
  .openapi("StackOfDeployment", {
    description: "What a deployment has done to one of its stacks so far.",
  });

export const Exemption = z.enum(EXEMPTIONS).openapi("Exemption", {
  description:
    "`restart`: it repeats what runs. `rollback`: it repeats the last success before the newest deployment that had " +
    "started.",
});

const Overridden = z
  .object({
    conditions: z.array(OverridableCondition).openapi({
      description: "Which conditions did not hold it.",
    }),
    reason: z.string().openapi({ description: "Why, for people.", example: "The shop is down" }),
    membership_id: identifierOf("membership", "The person who did."),
    created_at: timestampOf("When they did."),
  })
  .openapi("DeploymentOverride", {
    description: "That somebody has let it start in spite of rules. It stays for good.",
  });

const CreatorType = z.enum(CREATOR_TYPES).openapi("DeploymentCreatorType", {
  description: "How the creator acts. `ci`: a job that has exchanged its token at a trust.",
});

const Creator = z
  .object({
    type: CreatorType,
    name: z.string().optional().openapi({
      description:
        "What the person, the service account or the trust is called now. Absent if it has been removed.",
      example: "Mona",
    }),
    membership_id: identifierOf(
      "membership",
      "The person's, or the service account's, which a CI job acts as.",
    ),
    trust_id: identifierOf("trust", "For `ci`: the trust.").optional(),
    claims: z
      .record(z.string(), z.string())
      .optional()
      .openapi({
        description:
          "For `ci`: what the trust has verified of the job: `repository`, `repository_id`, `ref`, `sha`, " +
          "`workflow`, `run_id` and `actor`, as far as the token has them.",
        example: { repository: "acme/shop", ref: "refs/heads/main" },
      }),
    run_url: z.string().optional().openapi({
      description: "For a job of GitHub Actions: the page of its run.",
      example: "https://github.com/acme/shop/actions/runs/17",
    }),
  })
  .openapi("DeploymentCreator", {
    description: "Who has created it. Absent in the responses to runners.",
    example: { type: "person", name: "Mona", membership_id: EXAMPLE_IDS.membership },
  });

const Executor = z
  .object({
    pool: z
      .object({
        id: identifierOf("runnerPool", "The runner pool."),
        name: z.string().openapi({ description: "As it is called now.", example: "eu" }),
      })
      .openapi({ description: "Whose runner it is." }),
    name: z.string().optional().openapi({
      description: "As the runner calls itself. Absent if it does not.",
      example: "runner-7",
    }),
  })
  .openapi("DeploymentRunner", {
    description:
      "Who executes it, or did last. Absent before the start, and in lists, events and the responses to runners.",
  });

export const Deployment = z
  .object({
    id: identifierOf("deployment", "The deployment's own ID."),
    environment_id: identifierOf("environment", "The environment that is deployed."),
    status: Status,
    stack_ids: identifiersOf("stack").openapi({
      description: "The stacks to deploy, in this order. Some may be deleted by now.",
    }),
    data: z
      .object({
        patch: z.array(PatchOperation).openapi({
          description: "What the deployment changes in the environment's configuration.",
        }),
        source: Source.optional().openapi({
          description: "What is deployed. Absent if the request gave none.",
        }),
        stacks: z.array(StackOfDeployment).optional().openapi({
          description:
            "The progress of each stack, in the order of `stack_ids`. Absent if there are none.",
        }),
      })
      .openapi({ description: "What the deployment does, and how far it is." }),
    created_at: timestampOf("When the deployment was queued."),
    started_at: timestampOf("When a runner started it. Absent before.").optional(),
    finished_at: timestampOf("When it reached its final status. Absent before.").optional(),
    updated_at: timestampOf("When the deployment last changed."),
    created_by: Creator.optional(),
    reason: z.string().optional().openapi({
      description: "Why it is made, as the request states it. Absent if it does not.",
      example: "More traffic",
    }),
    continue_on_failure: z.boolean().openapi({
      description: "Whether the stacks that do not need a failed one are deployed.",
      example: false,
    }),
    trigger: DeploymentTrigger,
    from_deployment_id: identifierOf(
      "stagingDeployment",
      "What was promoted or redeployed. It may be deleted by now.",
    ).optional(),
    runner: Executor.optional(),
    queued_seconds: secondsOf(
      "From its creation to its start, or to its end if it has never started.",
    ).optional(),
    run_seconds: secondsOf("From its start to its final status.").optional(),
    failure_reason: z
      .string()
      .optional()
      .openapi({
        description:
          "Why it is `failed`, or `canceled` by no request to cancel it: `rejected`, `approval_expired`, or what " +
          "docs/state-machine.md and the runner say.",
        example: "approval_expired",
      }),
    message: z.string().optional().openapi({
      description: "What the runner or the service says about it, for people.",
      example: "Rejected: not on a Friday",
    }),
    exempt: Exemption.optional().openapi({
      description: "Which redeployment it is, that rules may exempt.",
    }),
    overridden: Overridden.optional(),
    waiting_for: z
      .array(Waiting)
      .optional()
      .openapi({
        description:
          "What the deployment waits for, at least one reason. Present while it is `queued`, in the responses that " +
          "create it or read this deployment alone, not in lists, events and the responses to runners.",
      }),
  })
  .openapi("Deployment", {
    description: "A move of an environment's stacks to a new configuration and source.",
  });

export const DeploymentList = envelopeOf(Deployment, "DeploymentList");

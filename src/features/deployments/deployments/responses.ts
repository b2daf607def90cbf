import { z } from "@hono/zod-openapi";
import { ErrorBody } from "../../../document/replies.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { EXEMPTIONS } from "../../projects/access/model.ts";
import { Environment } from "../../projects/environments/responses.ts";
import { Waiting } from "../conditions/responses.ts";
import {
  CREATOR_TYPES,
  DEPLOYMENT_STATUSES,
  DEPLOYMENT_TRIGGERS,
  STACK_STATUSES,
} from "./lifecycle.ts";
import { FROM, OperationName, OverridableCondition, PATH, TOO_LARGE, VALUE } from "./schemas.ts";
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
      digest: z
        .string()
        .optional()
        .openapi({
          description:
            "What an approval of this content names. Present while the deployment is queued and rules of the environment apply; " +
            "`before` is then the environment's present configuration.",
          example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
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
            "own configuration is no longer stored, or its patch does not apply.",
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
      waiting_for: z.array(Waiting()).openapi({
        description:
          "What it would wait for: the rules of the environment, freezes, the deployment that is running, and a runner if " +
          "none is online. Empty if nothing.",
      }),
      error: ErrorBody().optional().openapi({
        description: "The error that the request would return now. Absent if it would succeed.",
      }),
    })
    .openapi({
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
      started_at: timestampOf("When the runner first reported the stack.").optional(),
      run_seconds: secondsOf("From `started_at` to its final status.").optional(),
    })
    .openapi({ description: "What a deployment has done to one of its stacks so far." }),
);

export const Exemption = component("Exemption", () =>
  z.enum(EXEMPTIONS).openapi({
    description:
      "`restart`: it repeats what runs. `rollback`: it repeats the last success before the newest deployment that had " +
      "started.",
  }),
);

const Overridden = component("DeploymentOverride", () =>
  z
    .object({
      conditions: z.array(OverridableCondition()).openapi({
        description: "Which conditions did not hold it.",
      }),
      reason: z.string().openapi({ description: "Why, for people.", example: "The shop is down" }),
      membership_id: identifierOf("membership", "The person who did."),
      created_at: timestampOf("When they did."),
    })
    .openapi({
      description: "That somebody has let it start in spite of rules. It stays for good.",
    }),
);

const CreatorType = component("DeploymentCreatorType", () =>
  z.enum(CREATOR_TYPES).openapi({
    description: "How the creator acts. `ci`: a job that has exchanged its token at a trust.",
  }),
);

const Creator = component("DeploymentCreator", () =>
  z
    .object({
      type: CreatorType(),
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
    .openapi({
      description: "Who has created it. Absent in the responses to runners.",
      example: { type: "person", name: "Mona", membership_id: EXAMPLE_IDS.membership },
    }),
);

const Executor = component("DeploymentRunner", () =>
  z
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
    .openapi({
      description:
        "Who executes it, or did last. Absent before the start, and in lists, events and the responses to runners.",
    }),
);

const DeploymentTrigger = component("DeploymentTrigger", () =>
  z.enum(DEPLOYMENT_TRIGGERS).openapi({
    description:
      "Which request created it: `api` a new one, the others copy another. `rollback`: a redeployment of a " +
      "success from before the newest deployment that had started.",
  }),
);

const secondsOf = (description: string) =>
  z
    .int()
    .min(0)
    .openapi({ description: `${description} In seconds.`, example: 42 });

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
      created_by: Creator().optional(),
      reason: z.string().optional().openapi({
        description: "Why it is made, as the request states it. Absent if it does not.",
        example: "More traffic",
      }),
      trigger: DeploymentTrigger(),
      from_deployment_id: identifierOf(
        "stagingDeployment",
        "What was promoted or redeployed. It may be deleted by now.",
      ).optional(),
      runner: Executor().optional(),
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
      exempt: Exemption()
        .optional()
        .openapi({ description: "Which redeployment it is, that rules may exempt." }),
      overridden: Overridden().optional(),
      waiting_for: z
        .array(Waiting())
        .optional()
        .openapi({
          description:
            "What the deployment waits for, at least one reason. Present while it is `queued`, in the responses that " +
            "create it or read this deployment alone, not in lists, events and the responses to runners.",
        }),
    })
    .openapi({
      description: "A move of an environment's stacks to a new configuration and source.",
    }),
);

export const DeploymentList = envelopeOf(Deployment, "DeploymentList");

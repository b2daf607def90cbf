import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../http/params.ts";
import { documentProblem } from "../../lib/json-document.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  EXAMPLE_ID,
  enumFilter,
  Identifier,
  IdentifierInput,
  paragraphs,
  Timestamp,
  text,
} from "../../lib/schemas.ts";
import { DEPLOYMENT_STATUSES, QUEUES, STACK_STATUSES } from "./lifecycle.ts";
import { OPERATIONS } from "./patch.ts";

const { patchOperations, pointerLength, deploymentStacks } = LIMITS;

const TOO_LARGE = `exceeds ${LIMITS.patchBytes.value / 1024} KiB`;

const Status = z.enum(DEPLOYMENT_STATUSES).openapi("DeploymentStatus", {
  description:
    "`queued` until a runner starts the deployment; `in_progress` until the runner completes it; " +
    "`canceling` while the runner is asked to cancel; `superseded` if a newer deployment replaced " +
    "it before the start.",
});

const PatchOperation = z
  .object({
    op: z.enum(OPERATIONS),
    path: z.string().openapi({ description: "A JSON Pointer (RFC 6901).", example: "/replicas" }),
    from: z.string().optional(),
    value: z.unknown().optional(),
    old_value: z
      .unknown()
      .optional()
      .openapi({
        description: `The previous value at \`path\`. Absent if the patch with all old values ${TOO_LARGE}.`,
      }),
  })
  .openapi("PatchOperation", {
    example: { op: "replace", path: "/replicas", value: 3, old_value: 2 },
  });

const PointerInput = z
  .string()
  .max(pointerLength.value, `Send at most ${pointerLength.value} characters.`)
  .refine((path) => path.isWellFormed(), "Send a path without lone surrogates.")
  .refine((path) => !/\p{Cc}/u.test(path), "Send a path without control characters.");

const REQUIRED_MEMBER = {
  add: "value",
  replace: "value",
  test: "value",
  move: "from",
  copy: "from",
  remove: undefined,
} as const satisfies Record<(typeof OPERATIONS)[number], "value" | "from" | undefined>;

const PatchOperationInput = z
  .strictObject({
    op: z.enum(OPERATIONS),
    path: PointerInput,
    from: PointerInput.optional(),
    value: z.unknown().optional(),
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
  .openapi("PatchOperationInput");

const PROVIDERS = ["github", "gitlab", "bitbucket"] as const;

const SourceText = text(LIMITS.sourceLength.value);

const CommitPerson = z
  .strictObject({
    email: SourceText.optional(),
    id: SourceText.optional(),
    login: SourceText.optional(),
    name: SourceText.optional(),
  })
  .openapi("CommitPerson", { example: { login: "octocat", name: "Mona" } });

const Commit = z
  .strictObject({
    author: CommitPerson,
    committer: CommitPerson,
    message: paragraphs(LIMITS.commitMessageLength.value).openapi({ example: "Scale up" }),
    sha: SourceText.openapi({ example: "6dcb09b5b57875f334f61aebed695e2e4193db5e" }),
  })
  .openapi("Commit");

const Git = z
  .strictObject({
    commit: Commit,
    installation_id: SourceText,
    owner: SourceText,
    provider: z.enum(PROVIDERS),
    pull_request: SourceText.optional(),
    ref: SourceText.openapi({ example: "refs/heads/main" }),
    repo: SourceText,
    repo_id: SourceText,
  })
  .openapi("GitSource");

const Registry = z
  .strictObject({
    command: z
      .array(paragraphs(LIMITS.commandWordLength.value))
      .max(LIMITS.commandWords.value, `Send at most ${LIMITS.commandWords.value} words.`)
      .optional(),
    image: SourceText.openapi({ example: "ghcr.io/acme/shop:1.4.2" }),
  })
  .openapi("RegistrySource");

const Source = z
  .strictObject({ git: Git.optional(), registry: Registry.optional() })
  .openapi("DeploymentSource", { example: { registry: { image: "ghcr.io/acme/shop:1.4.2" } } });

const StackOfDeployment = z
  .object({
    id: Identifier,
    status: z.enum(STACK_STATUSES),
    status_reason: z.string().optional(),
    timestamp: Timestamp,
  })
  .openapi("StackOfDeployment");

export const Deployment = z
  .object({
    id: Identifier,
    environment_id: Identifier,
    status: Status,
    stack_ids: z.array(Identifier),
    data: z.object({
      patch: z.array(PatchOperation),
      source: Source.optional(),
      stacks: z.array(StackOfDeployment).optional(),
    }),
    created_at: Timestamp,
    started_at: Timestamp.optional(),
    finished_at: Timestamp.optional(),
    updated_at: Timestamp,
  })
  .openapi("Deployment");

export const DeploymentList = envelopeOf(Deployment, "DeploymentList");

export const CreateDeployment = z
  .strictObject({
    patch: z
      .array(PatchOperationInput)
      .max(patchOperations.value, `Send at most ${patchOperations.value} operations.`)
      .optional()
      .openapi({
        description:
          "A JSON Patch (RFC 6902) of the environment's configuration. Refused if the patch, with " +
          `the values that it replaces, ${TOO_LARGE}.`,
      }),
    source: Source.optional(),
    stack_ids: z
      .array(IdentifierInput)
      .max(deploymentStacks.value, `Send at most ${deploymentStacks.value} stacks.`)
      .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.")
      .optional()
      .openapi({ description: "Stacks of the environment, in this order. Default: all stacks." }),
    queue: z
      .enum(QUEUES)
      .optional()
      .openapi({
        description:
          "`supersede`, the default, replaces queued deployments of the environment; `fifo` waits " +
          "until they have ended.",
      }),
    reason: text(LIMITS.descriptionLength.value)
      .optional()
      .openapi({ description: "Why the deployment is made." }),
  })
  .openapi("CreateDeployment", {
    example: { patch: [{ op: "add", path: "/replicas", value: 3 }], reason: "More traffic" },
  });

export const PromoteDeployment = z
  .strictObject({
    environment_id: IdentifierInput.openapi({ description: "Another environment of the project." }),
  })
  .openapi("PromoteDeployment", { example: { environment_id: EXAMPLE_ID } });

export const DeploymentParams = z.object(textParam("id", "deployment"));
export const DeploymentOfEnvironmentParams = EnvironmentParams.extend(
  textParam("id", "deployment"),
);

export const DeploymentQuery = ListQuery.extend({ status: enumFilter(DEPLOYMENT_STATUSES) });

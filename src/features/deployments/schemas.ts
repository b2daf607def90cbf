import { z } from "@hono/zod-openapi";
import { envelopeOf, ListQuery } from "../../http/pagination.ts";
import { EnvironmentParams, textParam } from "../../http/params.ts";
import {
  EXAMPLE_ID,
  Identifier,
  IdentifierInput,
  severalOf,
  Timestamp,
  text,
} from "../../http/schemas.ts";
import { DEPLOYMENT_STATUSES, QUEUES, STACK_STATUSES } from "./lifecycle.ts";
import { OPERATIONS } from "./patch.ts";
import { Source } from "./source-schemas.ts";

const MAXIMUM_OPERATIONS = 200;
const MAXIMUM_STACKS = 500;

const Status = z.enum(DEPLOYMENT_STATUSES).openapi("DeploymentStatus", {
  description:
    "`queued` until a runner starts it, `in_progress` until it says how it ended; `canceling` while " +
    "its runner is asked to stop; `superseded` if a newer one took its place before it started.",
});

export const PatchOperation = z
  .object({
    op: z.enum(OPERATIONS),
    path: z.string().openapi({ description: "A JSON Pointer (RFC 6901).", example: "/replicas" }),
    from: z.string().optional(),
    value: z.unknown().optional(),
    old_value: z.unknown().optional().openapi({ description: "What stood at `path` before." }),
  })
  .openapi("PatchOperation", {
    example: { op: "replace", path: "/replicas", value: 3, old_value: 2 },
  });

const PatchOperationInput = z
  .strictObject({
    op: z.enum(OPERATIONS),
    path: z.string().max(2_000, "Send at most 2000 characters."),
    from: z.string().max(2_000, "Send at most 2000 characters.").optional(),
    value: z.unknown().optional(),
  })
  .superRefine((operation, ctx) => {
    const takes = { move: "from", copy: "from", remove: undefined } as const;
    const needed = operation.op in takes ? takes[operation.op as keyof typeof takes] : "value";
    if (needed === undefined || operation[needed] !== undefined) return;
    const message = `Send ${needed}: ${operation.op} needs it.`;
    ctx.addIssue({ code: "custom", path: [needed], message });
  })
  .openapi("PatchOperationInput");

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
      .max(MAXIMUM_OPERATIONS, `Send at most ${MAXIMUM_OPERATIONS} operations.`)
      .optional()
      .openapi({ description: "RFC 6902, against the configuration of the environment." }),
    source: Source.optional(),
    stack_ids: z
      .array(IdentifierInput)
      .max(MAXIMUM_STACKS, `Send at most ${MAXIMUM_STACKS} stacks.`)
      .refine((ids) => new Set(ids).size === ids.length, "Send each stack once.")
      .optional()
      .openapi({ description: "Stacks of the environment, in this order; all by default." }),
    queue: z.enum(QUEUES).optional().openapi({
      description:
        "`supersede`, the default, takes the place of what has not started; `fifo` waits for it.",
    }),
    reason: text(1_000).optional().openapi({ description: "Why, for those who come after." }),
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
export const StackParams = z.object(textParam("stack_id", "stack"));

export const DeploymentQuery = ListQuery.extend({ status: severalOf(DEPLOYMENT_STATUSES) });

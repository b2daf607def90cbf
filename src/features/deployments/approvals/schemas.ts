import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierInput, identifierOf, text, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/schemas.ts";
import { Project } from "../../projects/projects/schemas.ts";
import { APPROVAL_DECISIONS } from "../conditions/model.ts";
import { Deployment } from "../deployments/schemas.ts";

export const Decision = z.enum(APPROVAL_DECISIONS).openapi("ApprovalDecision", {
  description: "`approve` counts for the content alone; `reject` ends the deployment.",
});

export const CreateApproval = z
  .strictObject({
    decision: Decision,
    comment: text(LIMITS.descriptionLength.value).optional().openapi({
      description: "For people. All who may read the deployment see it.",
    }),
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "Send the 64 hex digits of a digest.")
      .optional()
      .openapi({
        description:
          "The `digest` of the configuration that you have read, so that nothing else is approved. Another " +
          "content is a `conflict`. Absent: what would start now.",
      }),
  })
  .openapi("CreateApproval", {
    description: "What you decide about a queued deployment.",
    example: { decision: "approve", comment: "Looks good" },
  });

export const PendingApprovalQuery = z.object({
  deployment_id: identifierInput("deployment").optional().openapi({
    description: "Only this deployment: whether it waits for your approval.",
  }),
});

export const Approval = z
  .object({
    id: identifierOf("approval", "The approval's own ID."),
    deployment_id: identifierOf("deployment", "What they decided about."),
    membership_id: identifierOf("membership", "Who has decided."),
    name: z.string().optional().openapi({
      description: "As people call the member. Absent once they have left.",
      example: "Mona",
    }),
    decision: Decision,
    comment: z.string().optional().openapi({
      description: "What they wrote. Absent if nothing.",
      example: "Looks good",
    }),
    digest: z.string().openapi({
      description:
        "SHA-256 of the content that they decided about: the resulting configuration, the source, the stacks with their components, and the connection.",
      example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    }),
    created_at: timestampOf("When they decided."),
  })
  .openapi("Approval", { description: "A decision of a person about a deployment." });

export const ApprovalList = envelopeOf(Approval, "ApprovalList");

export const PendingApproval = z
  .object({
    deployment_id: identifierOf("deployment", "What waits."),
    environment_id: identifierOf("environment", "Where it is to be deployed."),
    environment_name: Environment.shape.name,
    project_id: identifierOf("project", "What the environment belongs to."),
    project_name: Project.shape.name,
    source: Deployment.shape.data.shape.source,
    message: z.string().openapi({
      description: "How many approvals are missing, for people.",
      example: "1 of 2 approvals by owners of the project and admins of the organization.",
    }),
    expires_at: timestampOf(
      "When the deployment ends `canceled` with `approval_expired`, unless it has them before.",
    ).optional(),
    created_at: timestampOf("When the deployment was created."),
  })
  .openapi("PendingApproval", { description: "A deployment that waits for your approval." });

export const PendingApprovalList = envelopeOf(PendingApproval, "PendingApprovalList");

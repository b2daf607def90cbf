import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/responses.ts";
import { Project } from "../../projects/projects/responses.ts";
import { Deployment } from "../deployments/responses.ts";
import { Decision } from "./schemas.ts";

export const Approval = component("Approval", () =>
  z
    .object({
      id: identifierOf("approval", "The approval's own ID."),
      deployment_id: identifierOf("deployment", "What they decided about."),
      membership_id: identifierOf("membership", "Who has decided."),
      name: z.string().optional().openapi({
        description: "As people call the member. Absent once they have left.",
        example: "Mona",
      }),
      decision: Decision(),
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
    .openapi({ description: "A decision of a person about a deployment." }),
);

export const ApprovalList = envelopeOf(Approval, "ApprovalList");

export const PendingApproval = component("PendingApproval", () =>
  z
    .object({
      deployment_id: identifierOf("deployment", "What waits."),
      environment_id: identifierOf("environment", "Where it is to be deployed."),
      environment_name: Environment().shape.name,
      project_id: identifierOf("project", "What the environment belongs to."),
      project_name: Project().shape.name,
      source: Deployment().shape.data.shape.source,
      message: z.string().openapi({
        description: "How many approvals are missing, for people.",
        example: "1 of 2 approvals by owners of the project and admins of the organization.",
      }),
      expires_at: timestampOf(
        "When the deployment ends `canceled` with `approval_expired`, unless it has them before.",
      ).optional(),
      created_at: timestampOf("When the deployment was created."),
    })
    .openapi({ description: "A deployment that waits for your approval." }),
);

export const PendingApprovalList = envelopeOf(PendingApproval, "PendingApprovalList");

import { z } from "@hono/zod-openapi";
import { envelopeFields } from "../../../http/pagination.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/responses.ts";
import { Project } from "../../projects/projects/responses.ts";
import { Deployment } from "../deployments/responses.ts";

const DeploymentSummary = component("DeploymentSummary", () => {
  const { status, created_at, started_at, finished_at, updated_at } = Deployment().shape;
  return z
    .object({
      id: identifierOf("deployment", "The `deployment_id` in the paths."),
      status,
      source: Deployment().shape.data.shape.source,
      created_at,
      started_at,
      finished_at,
      updated_at,
    })
    .openapi({ description: "A deployment without its patch and its stacks." });
});

const EnvironmentOverview = component("EnvironmentOverview", () =>
  z
    .object({
      id: identifierOf("environment", "The `environment_id` in the paths."),
      name: Environment().shape.name,
      active_deployment: DeploymentSummary()
        .optional()
        .openapi({
          description:
            "The deployment that is `in_progress` or `canceling`, or else the `queued` one that starts " +
            "next. Absent if there is none.",
        }),
      last_deployment: DeploymentSummary().optional().openapi({
        description:
          "The newest deployment that is `succeeded`, `failed` or `canceled`. Absent before the first.",
      }),
      created_at: timestampOf("When the environment was created."),
    })
    .openapi({ description: "An environment, and what is deployed there." }),
);

export const ProjectOverview = component("ProjectOverview", () =>
  z
    .object({
      project: Project(),
      ...envelopeFields(EnvironmentOverview()),
    })
    .openapi({ description: "A project, and a page of its environments." }),
);

import { z } from "@hono/zod-openapi";
import { envelopeFields } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/responses.ts";
import { Project } from "../../projects/projects/responses.ts";
import { Stack } from "../../projects/stacks/responses.ts";
import { Alarm } from "../alarms/responses.ts";
import { Deployment } from "../deployments/responses.ts";

const DeploymentSummary = component("DeploymentSummary", () => {
  const { data, ...fields } = Deployment().shape;
  const { status, created_at, started_at, finished_at, updated_at } = fields;
  const { created_by, reason, trigger, from_deployment_id, queued_seconds, run_seconds } = fields;
  return z
    .object({
      id: identifierOf("deployment", "The `deployment_id` in the paths."),
      status,
      source: data.shape.source,
      ...{ created_at, started_at, finished_at, updated_at },
      ...{ created_by, reason, trigger, from_deployment_id, queued_seconds, run_seconds },
    })
    .openapi({ description: "A deployment without its patch and its stacks." });
});

const RaisedAlarm = component("RaisedAlarm", () => {
  const { stack_id, name, reason, changed_at } = Alarm().shape;
  return z
    .object({ stack_id, stack_name: Stack().shape.name, name, reason, changed_at })
    .openapi({ description: "An alarm in the state `alarm`." });
});

const QueuedDeployment = component("QueuedDeployment", () =>
  z
    .object({
      id: identifierOf("deployment", "The `deployment_id` in the paths."),
      created_at: timestampOf("When it was queued."),
      awaits_approval: z.boolean().openapi({
        description: "Whether people have to approve it, by a rule of the environment.",
      }),
      opens_at: timestampOf(
        "The time before which rules of the environment keep it from starting. Absent if no time decides.",
      ).optional(),
    })
    .openapi({ description: "A deployment that has not started." }),
);

const RecentDeployment = component("RecentDeployment", () => {
  const { id, status, created_at, run_seconds } = DeploymentSummary().shape;
  return z
    .object({ id, status, created_at, run_seconds })
    .openapi({ description: "One of the last deployments of an environment." });
});

const EnvironmentOverview = component("EnvironmentOverview", () =>
  z
    .object({
      id: identifierOf("environment", "The `environment_id` in the paths."),
      name: Environment().shape.name,
      position: Environment().shape.position,
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
      current_deployment: DeploymentSummary().optional().openapi({
        description:
          "What runs there: the newest deployment that is `succeeded`, since its `finished_at`. Absent before the first.",
      }),
      url: z.string().optional().openapi({
        description:
          "Where it runs: the output `url` of its oldest stack that has one. Absent if none has.",
        example: "https://shop.example.com",
      }),
      health: Alarm().shape.state.optional().openapi({
        description:
          "`alarm` if an alarm of one of its stacks is, `ok` if all are. Absent if its stacks have no alarms.",
      }),
      alarms: z.array(RaisedAlarm()).openapi({
        description: `Its alarms in the state \`alarm\`, those first that changed last, at most ${LIMITS.overviewAlarms.value}.`,
      }),
      queue: z.array(QueuedDeployment()).openapi({
        description: `Its \`queued\` deployments, those first that start first, at most ${LIMITS.overviewQueue.value}.`,
      }),
      recent_deployments: z.array(RecentDeployment()).openapi({
        description: `Its last deployments, the newest first, at most ${LIMITS.overviewDeployments.value}.`,
      }),
      created_at: timestampOf("When the environment was created."),
    })
    .openapi({ description: "An environment: what runs there, its health, and what waits." }),
);

export const ProjectOverview = component("ProjectOverview", () =>
  z
    .object({
      project: Project(),
      ...envelopeFields(EnvironmentOverview()),
    })
    .openapi({ description: "A project, and a page of its environments." }),
);

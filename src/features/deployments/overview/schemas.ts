import { z } from "@hono/zod-openapi";
import { envelopeFields } from "../../../http/pagination.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { Environment } from "../../projects/environments/schemas.ts";
import { Project } from "../../projects/projects/schemas.ts";
import { Stack } from "../../projects/stacks/schemas.ts";
import { Alarm } from "../alarms/schemas.ts";
import { Deployment } from "../deployments/schemas.ts";

const shown = Deployment.shape;

const DeploymentSummary = z
  .object({
    id: identifierOf("deployment", "The `deployment_id` in the paths."),
    status: shown.status,
    source: shown.data.shape.source,
    created_at: shown.created_at,
    started_at: shown.started_at,
    finished_at: shown.finished_at,
    updated_at: shown.updated_at,
    created_by: shown.created_by,
    reason: shown.reason,
    trigger: shown.trigger,
    from_deployment_id: shown.from_deployment_id,
    queued_seconds: shown.queued_seconds,
    run_seconds: shown.run_seconds,
  })
  .openapi("DeploymentSummary", { description: "A deployment without its patch and its stacks." });

const RaisedAlarm = z
  .object({
    stack_id: Alarm.shape.stack_id,
    stack_name: Stack.shape.name,
    name: Alarm.shape.name,
    reason: Alarm.shape.reason,
    changed_at: Alarm.shape.changed_at,
  })
  .openapi("RaisedAlarm", { description: "An alarm in the state `alarm`." });

const QueuedDeployment = z
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
  .openapi("QueuedDeployment", { description: "A deployment that has not started." });

const RecentDeployment = DeploymentSummary.pick({
  id: true,
  status: true,
  created_at: true,
  run_seconds: true,
}).openapi("RecentDeployment", { description: "One of the last deployments of an environment." });

const EnvironmentOverview = z
  .object({
    id: identifierOf("environment", "The `environment_id` in the paths."),
    name: Environment.shape.name,
    position: Environment.shape.position,
    active_deployment: DeploymentSummary.optional().openapi({
      description:
        "The deployment that is `in_progress` or `canceling`, or else the `queued` one that starts " +
        "next. Absent if there is none.",
    }),
    last_deployment: DeploymentSummary.optional().openapi({
      description:
        "The newest deployment that is `succeeded`, `failed` or `canceled`. Absent before the first.",
    }),
    current_deployment: DeploymentSummary.optional().openapi({
      description:
        "What runs there: the newest deployment that is `succeeded`, since its `finished_at`. Absent before the first.",
    }),
    url: z.string().optional().openapi({
      description:
        "Where it runs: the output `url` of its oldest stack that has one. Absent if none has.",
      example: "https://shop.example.com",
    }),
    health: Alarm.shape.state.optional().openapi({
      description:
        "`alarm` if an alarm of one of its stacks is, `ok` if all are. Absent if its stacks have no alarms.",
    }),
    alarms: z.array(RaisedAlarm).openapi({
      description: `Its alarms in the state \`alarm\`, those first that changed last, at most ${LIMITS.overviewAlarms.value}.`,
    }),
    queue: z.array(QueuedDeployment).openapi({
      description: `Its \`queued\` deployments, those first that start first, at most ${LIMITS.overviewQueue.value}.`,
    }),
    recent_deployments: z.array(RecentDeployment).openapi({
      description: `Its last deployments, the newest first, at most ${LIMITS.overviewDeployments.value}.`,
    }),
    created_at: timestampOf("When the environment was created."),
  })
  .openapi("EnvironmentOverview", {
    description: "An environment: what runs there, its health, and what waits.",
  });

export const ProjectOverview = z
  .object({
    project: Project,
    ...envelopeFields(EnvironmentOverview),
  })
  .openapi("ProjectOverview", { description: "A project, and a page of its environments." });

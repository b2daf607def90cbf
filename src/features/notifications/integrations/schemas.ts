import { z } from "@hono/zod-openapi";
import { documented, exampleId } from "#documented";
import { idParam, ProjectParams } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, identifierInput, text } from "../../../lib/schemas.ts";
import {
  EVENT_TYPES,
  EVENTS,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "../../housekeeping/outbox/events.ts";

export const EXAMPLE_URL = documented(() => "https://ci.example.com/hooks");

export const flagsOf = <Schema extends z.ZodType>(flag: Schema) =>
  Object.fromEntries(
    NOTIFICATION_KINDS.map((kind) => [
      kind,
      flag.openapi(
        documented(() => {
          const types = EVENT_TYPES.filter((each) => EVENTS[each].kind === kind);
          const verb = types.length > 1 ? "are" : "is";
          return {
            description: `Whether ${types.map((each) => `\`${each}\``).join(", ")} ${verb} sent.`,
          };
        }),
      ),
    ]),
  ) as Record<NotificationKind, Schema>;

const ConfigurationInput = component("IntegrationConfigurationInput", () =>
  z
    .strictObject(flagsOf(z.boolean().optional()))
    .openapi(
      documented(() => ({ description: "Whether each kind of notification is to be sent." })),
    ),
);

const UrlInput = lazy(() =>
  text(LIMITS.urlLength.value).openapi(
    documented(() => ({
      description:
        "The target of webhooks: `https://`, port 443 or 8443, a host on the public Internet, and no " +
        "user name, password or fragment. It is stored encrypted.",
      format: "uri",
      example: EXAMPLE_URL,
    })),
  ),
);

const MAXIMUM_FILTER = LIMITS.integrationFilters.value;

/** Undefined if absent, null for all. */
function filterInput(kind: "environment" | "stack") {
  return z
    .array(identifierInput(kind))
    .max(MAXIMUM_FILTER, `Send at most ${MAXIMUM_FILTER} identifiers.`)
    .nullish()
    .transform((ids) => {
      if (ids === undefined) return undefined;
      return ids && ids.length > 0 ? [...new Set(ids)] : null;
    })
    .openapi(documented(() => ({ example: [exampleId(kind)] })));
}

export const ENVIRONMENTS_MEANING = documented(
  () => "Of the events of environments, only those of these environments are sent.",
);
export const STACKS_MEANING = documented(
  () =>
    "Of the events of deployments and alarms, only those of these stacks are sent: of a deployment, " +
    "if it includes one of them.",
);
const ALL = documented(() => "`null` or an empty list: all.");

export const CreateIntegration = component("CreateIntegration", () =>
  z
    .strictObject({
      type: z
        .literal("webhook", {
          error: "Send webhook. To add Slack, use GET /v1/projects/{project_id}/slack/install.",
        })
        .openapi(
          documented(() => ({ description: "Only `webhook`: Slack is installed instead." })),
        ),
      configuration: ConfigurationInput().openapi(
        documented(() => ({
          description: "The kinds to send. A kind that is absent is off.",
        })),
      ),
      url: UrlInput(),
      environment_ids: filterInput("environment").openapi(
        documented(() => ({
          description: `${ENVIRONMENTS_MEANING} Absent, ${ALL}`,
        })),
      ),
      stack_ids: filterInput("stack").openapi(
        documented(() => ({ description: `${STACKS_MEANING} Absent, ${ALL}` })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The webhook to create.",
        example: {
          type: "webhook",
          configuration: { deployments_failed: true, deployments_succeeded: true },
          url: EXAMPLE_URL,
        },
      })),
    ),
);

export const UpdateIntegration = component("UpdateIntegration", () =>
  z
    .strictObject({
      configuration: ConfigurationInput()
        .optional()
        .openapi(
          documented(() => ({
            description: "The kinds to switch on or off. A kind that is absent does not change.",
          })),
        ),
      url: UrlInput().optional(),
      environment_ids: filterInput("environment").openapi(
        documented(() => ({
          description: `${ENVIRONMENTS_MEANING} Absent: no change. ${ALL}`,
        })),
      ),
      stack_ids: filterInput("stack").openapi(
        documented(() => ({
          description: `${STACKS_MEANING} Absent: no change. ${ALL}`,
        })),
      ),
    })
    .openapi(
      documented(() => ({
        description: "The fields to change. Absent fields keep their values.",
        example: { configuration: { promotions: true } },
      })),
    ),
);

export const IntegrationParams = lazy(() =>
  ProjectParams().extend(idParam("integration_id", "notification integration", "integration")),
);

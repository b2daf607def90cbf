import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam, ProjectParams } from "../../../http/params.ts";
import { exampleId } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { MASK, maskUrl } from "../../../lib/mask-url.ts";
import { durationOf } from "../../../lib/quantities.ts";
import {
  identifierInput,
  identifierOf,
  identifiersOf,
  text,
  timestampOf,
} from "../../../lib/schemas.ts";
import {
  EVENT_TYPES,
  EVENTS,
  NOTIFICATION_KINDS,
  type NotificationKind,
} from "../../housekeeping/outbox/events.ts";
import { DISABLED_REASONS, INTEGRATION_TYPES } from "../../housekeeping/outbox/model.ts";

export const EXAMPLE_URL = "https://ci.example.com/hooks";

export const flagsOf = <Schema extends z.ZodType>(flag: Schema) =>
  Object.fromEntries(
    NOTIFICATION_KINDS.map((kind) => {
      const types = EVENT_TYPES.filter((each) => EVENTS[each].kind === kind);
      const verb = types.length > 1 ? "are" : "is";
      const names = types.map((each) => `\`${each}\``).join(", ");
      return [kind, flag.openapi({ description: `Whether ${names} ${verb} sent.` })];
    }),
  ) as Record<NotificationKind, Schema>;

const ConfigurationInput = z
  .strictObject(flagsOf(z.boolean().optional()))
  .openapi("IntegrationConfigurationInput", {
    description: "Whether each kind of notification is to be sent.",
  });

const UrlInput = text(LIMITS.urlLength.value).openapi({
  description:
    "The target of webhooks: `https://`, port 443 or 8443, a host on the public Internet, and no " +
    "user name, password or fragment. It is stored encrypted.",
  format: "uri",
  example: EXAMPLE_URL,
});

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
    .openapi({ example: [exampleId(kind)] });
}

export const ENVIRONMENTS_MEANING =
  "Of the events of environments, only those of these environments are sent.";
export const STACKS_MEANING =
  "Of the events of deployments and alarms, only those of these stacks are sent: of a deployment, " +
  "if it includes one of them.";
const ALL = "`null` or an empty list: all.";

export const CreateIntegration = z
  .strictObject({
    type: z
      .literal("webhook", {
        error: "Send webhook. To add Slack, use GET /v1/projects/{project_id}/slack/install.",
      })
      .openapi({ description: "Only `webhook`: Slack is installed instead." }),
    configuration: ConfigurationInput.openapi({
      description: "The kinds to send. A kind that is absent is off.",
    }),
    url: UrlInput,
    environment_ids: filterInput("environment").openapi({
      description: `${ENVIRONMENTS_MEANING} Absent, ${ALL}`,
    }),
    stack_ids: filterInput("stack").openapi({ description: `${STACKS_MEANING} Absent, ${ALL}` }),
  })
  .openapi("CreateIntegration", {
    description: "The webhook to create.",
    example: {
      type: "webhook",
      configuration: { deployments_failed: true, deployments_succeeded: true },
      url: EXAMPLE_URL,
    },
  });

export const UpdateIntegration = z
  .strictObject({
    configuration: ConfigurationInput.optional().openapi({
      description: "The kinds to switch on or off. A kind that is absent does not change.",
    }),
    url: UrlInput.optional(),
    environment_ids: filterInput("environment").openapi({
      description: `${ENVIRONMENTS_MEANING} Absent: no change. ${ALL}`,
    }),
    stack_ids: filterInput("stack").openapi({
      description: `${STACKS_MEANING} Absent: no change. ${ALL}`,
    }),
  })
  .openapi("UpdateIntegration", {
    description: "The fields to change. Absent fields keep their values.",
    example: { configuration: { promotions: true } },
  });

export const IntegrationParams = ProjectParams.extend(
  idParam("integration_id", "notification integration", "integration"),
);

const SHOWN_URL = maskUrl(EXAMPLE_URL);

export const Configuration = z.object(flagsOf(z.boolean())).openapi("IntegrationConfiguration", {
  description: "Whether each kind of notification is sent.",
});

const SHOWN_FILTER =
  "Absent: all. Deleted resources leave the list, which may become empty: then none are sent.";

const Type = z
  .enum(INTEGRATION_TYPES)
  .openapi("IntegrationType", { description: "Where notifications are sent." });

const DisabledReason = z.enum(DISABLED_REASONS).openapi("IntegrationDisabledReason", {
  description:
    "`gone`: the endpoint responded with 410. `failing`: every attempt failed for " +
    `${durationOf(LIMITS.failingMs.value)}.`,
});

const nameAtSlack = (description: string, example: string) =>
  z.string().optional().openapi({ description, example });

const SlackChannel = z
  .object({
    workspace_id: nameAtSlack(
      "Slack's own ID, which is also in the workspace's address: no other workspace has it.",
      "T0123456789",
    ),
    workspace_name: nameAtSlack(
      "As its members see it. Another workspace may have the same.",
      "Acme",
    ),
    channel_id: nameAtSlack(
      "Slack's own ID, which stays the same if the channel is renamed.",
      "C0123456789",
    ),
    channel_name: nameAtSlack("With `#`, or a person's name for a direct message.", "#deploys"),
  })
  .openapi("SlackChannel", {
    description:
      "The channel that a Slack installation has chosen, as Slack named it then. Compare the IDs: " +
      "any workspace can have these names. Absent for webhooks.",
  });

export const Integration = z
  .object({
    id: identifierOf("integration", "The `integration_id` in the paths."),
    project_id: identifierOf("project", "The project whose events are sent."),
    type: Type,
    configuration: Configuration,
    url: z
      .string()
      .optional()
      .openapi({
        description:
          `The scheme, host and port of the target of webhooks. \`${MASK}\` replaces what may be ` +
          "secret: the first label of a host with three or more, and always the path with the " +
          "query. Absent for Slack.",
        example: SHOWN_URL,
      }),
    slack: SlackChannel.optional(),
    environment_ids: identifiersOf("environment")
      .optional()
      .openapi({ description: `${ENVIRONMENTS_MEANING} ${SHOWN_FILTER}` }),
    stack_ids: identifiersOf("stack")
      .optional()
      .openapi({ description: `${STACKS_MEANING} ${SHOWN_FILTER}` }),
    confirmed: z.boolean().openapi({
      description:
        "Nothing is sent until this is true. Always true for a webhook; false for a Slack " +
        "installation until an owner of the project has confirmed it.",
      example: true,
    }),
    confirm_by: timestampOf(
      "When the installation is deleted unless it is confirmed. Absent once it is confirmed.",
    ).optional(),
    failing_since: timestampOf(
      "Every attempt has failed since then. Absent if the last attempt succeeded.",
    ).optional(),
    paused_until: timestampOf(
      "Nothing is sent before this time, because the endpoint asked for a pause or was overloaded. " +
        "Once it is past, the pause is over. `POST …/resume` ends it earlier.",
    ).optional(),
    disabled_at: timestampOf(
      "Nothing is sent since then. Any update of the integration enables it again.",
    ).optional(),
    disabled_reason: DisabledReason.optional().openapi({
      description: "Why the service disabled the integration. Absent while it is enabled.",
    }),
    created_at: timestampOf("When the integration was created."),
    updated_at: timestampOf("When the integration last changed."),
  })
  .openapi("Integration", { description: "A destination of a project's notifications." });

export const IntegrationList = envelopeOf(Integration, "IntegrationList");

const Secret = z.string().openapi({
  description:
    "The secret that signs webhooks, in the format of Standard Webhooks. No other response shows " +
    "it: store it now.",
  pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
  example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwqVEiDJTTH6s=",
});

export const CreatedIntegration = Integration.extend({ secret: Secret }).openapi(
  "CreatedIntegration",
  {
    description: "A new webhook. Only this response contains its secret.",
  },
);

export const RotatedIntegration = CreatedIntegration.extend({
  previous_secret_until: timestampOf(
    "Until then webhooks are signed with the previous secret too.",
  ),
}).openapi("RotatedIntegration", {
  description: "A webhook with its new secret, which no other response contains.",
});

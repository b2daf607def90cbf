import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { MASK, maskUrl } from "../../../lib/mask-url.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { component, identifierOf, identifiersOf, timestampOf } from "../../../lib/schemas.ts";
import { DISABLED_REASONS, INTEGRATION_TYPES } from "../../housekeeping/outbox/model.ts";
import { ENVIRONMENTS_MEANING, EXAMPLE_URL, flagsOf, STACKS_MEANING } from "./schemas.ts";

const SHOWN_URL = maskUrl(EXAMPLE_URL);

export const Configuration = component("IntegrationConfiguration", () =>
  z
    .object(flagsOf(z.boolean()))
    .openapi({ description: "Whether each kind of notification is sent." }),
);

const SHOWN_FILTER =
  "Absent: all. Deleted resources leave the list, which may become empty: then none are sent.";

const Type = component("IntegrationType", () =>
  z.enum(INTEGRATION_TYPES).openapi({ description: "Where notifications are sent." }),
);

const DisabledReason = component("IntegrationDisabledReason", () =>
  z.enum(DISABLED_REASONS).openapi({
    description:
      "`gone`: the endpoint responded with 410. `failing`: every attempt failed for " +
      `${durationOf(LIMITS.failingMs.value)}.`,
  }),
);

const nameAtSlack = (description: string, example: string) =>
  z.string().optional().openapi({ description, example });

const SlackChannel = component("SlackChannel", () =>
  z
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
    .openapi({
      description:
        "The channel that a Slack installation has chosen, as Slack named it then. Compare the IDs: " +
        "any workspace can have these names. Absent for webhooks.",
    }),
);

export const Integration = component("Integration", () =>
  z
    .object({
      id: identifierOf("integration", "The `integration_id` in the paths."),
      project_id: identifierOf("project", "The project whose events are sent."),
      type: Type(),
      configuration: Configuration(),
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
      slack: SlackChannel().optional(),
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
      disabled_reason: DisabledReason().optional().openapi({
        description: "Why the service disabled the integration. Absent while it is enabled.",
      }),
      created_at: timestampOf("When the integration was created."),
      updated_at: timestampOf("When the integration last changed."),
    })
    .openapi({ description: "A destination of a project's notifications." }),
);

export const IntegrationList = envelopeOf(Integration, "IntegrationList");

const Secret = lazy(() =>
  z.string().openapi({
    description:
      "The secret that signs webhooks, in the format of Standard Webhooks. No other response shows " +
      "it: store it now.",
    pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
    example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwqVEiDJTTH6s=",
  }),
);

export const CreatedIntegration = component("CreatedIntegration", () =>
  Integration().extend({ secret: Secret() }).openapi({
    description: "A new webhook. Only this response contains its secret.",
  }),
);

export const RotatedIntegration = component("RotatedIntegration", () =>
  CreatedIntegration()
    .extend({
      previous_secret_until: timestampOf(
        "Until then webhooks are signed with the previous secret too.",
      ),
    })
    .openapi({ description: "A webhook with its new secret, which no other response contains." }),
);

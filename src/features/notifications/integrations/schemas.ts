import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam, ProjectParams } from "../../../http/params.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { Identifier, Timestamp, text } from "../../../lib/schemas.ts";
import { KINDS, type Kind } from "../events.ts";
import { DISABLED_REASONS, INTEGRATION_TYPES } from "./model.ts";

const EXAMPLE_URL = "https://ci.example.com/hooks";

const flagsOf = <Schema extends z.ZodType>(flag: Schema) =>
  Object.fromEntries(KINDS.map((kind) => [kind, flag])) as Record<Kind, Schema>;

export const Configuration = z.object(flagsOf(z.boolean())).openapi("IntegrationConfiguration", {
  description: "Whether each kind of notification is sent.",
});

const ConfigurationInput = z.strictObject(flagsOf(z.boolean().optional()));

const UrlInput = text(LIMITS.urlLength.value).openapi({
  description:
    "The target of webhooks: `https://`, port 443 or 8443, a host on the public Internet, and no " +
    "user name, password or fragment. It is stored encrypted.",
  example: EXAMPLE_URL,
});

export const Integration = z
  .object({
    id: Identifier,
    project_id: Identifier,
    type: z.enum(INTEGRATION_TYPES),
    configuration: Configuration,
    url: z.string().optional().openapi({
      description:
        "The target of webhooks. `…` replaces what may be secret: the query and long path segments.",
      example: EXAMPLE_URL,
    }),
    disabled_at: Timestamp.optional().openapi({
      description: "Nothing is sent since then. Any update of the integration enables it again.",
    }),
    disabled_reason: z.enum(DISABLED_REASONS).optional().openapi({
      description:
        "`gone`: the endpoint responded with 410. `failing`: every attempt failed for five days.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Integration");

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
);

export const RotatedIntegration = CreatedIntegration.extend({
  previous_secret_until: Timestamp.openapi({
    description: "Until then webhooks are signed with the previous secret too.",
  }),
}).openapi("RotatedIntegration");

export const CreateIntegration = z
  .strictObject({
    type: z
      .enum(["webhook"], {
        error: "Send webhook. To add Slack, use GET /v1/projects/{project_id}/slack/install.",
      })
      .openapi({ description: "Only `webhook`: Slack is installed instead." }),
    configuration: ConfigurationInput.openapi({
      description: "The kinds to send. A kind that is absent is off.",
    }),
    url: UrlInput,
  })
  .openapi("CreateIntegration", {
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
  })
  .openapi("UpdateIntegration", { example: { configuration: { promotions: true } } });

export const IntegrationParams = ProjectParams.extend(
  idParam("integration_id", "notification integration"),
);

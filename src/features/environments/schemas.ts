import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { Identifier, slug, Timestamp } from "../../http/schemas.ts";
import { CONFIGURATION_BYTES, configurationProblem } from "./configuration.ts";

const Name = slug().openapi({ description: "Unique in the project.", example: "staging" });

const Configuration = z.record(z.string(), z.unknown()).openapi("Configuration", {
  description: `A JSON object of at most ${CONFIGURATION_BYTES / 1024} KiB: what deployments change.`,
  example: { replicas: 2, features: { search: true } },
});

const ConfigurationInput = Configuration.superRefine((configuration, ctx) => {
  const message = configurationProblem(configuration);
  if (message) ctx.addIssue({ code: "custom", message });
});

export const Environment = z
  .object({
    id: Identifier,
    project_id: Identifier,
    name: Name,
    configuration: Configuration,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("Environment");

export const EnvironmentList = envelopeOf(Environment, "EnvironmentList");

export const CreateEnvironment = z
  .strictObject({ name: Name, configuration: ConfigurationInput.default({}) })
  .openapi("CreateEnvironment", {
    example: { name: "staging", configuration: { replicas: 1 } },
  });

export const ReplaceEnvironment = z
  .strictObject({ name: Name, configuration: ConfigurationInput })
  .openapi("ReplaceEnvironment", {
    example: { name: "staging", configuration: { replicas: 2 } },
  });

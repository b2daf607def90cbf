import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../http/pagination.ts";
import { documentProblem } from "../../lib/json-document.ts";
import { LIMITS } from "../../lib/limits.ts";
import { Identifier, slug, Timestamp } from "../../lib/schemas.ts";
import { configurationProblem, type Configuration as Document, isConfiguration } from "./model.ts";

const Name = slug().openapi({ description: "Unique in the project.", example: "staging" });

const KIBIBYTES = LIMITS.configurationBytes.value / 1024;

/** Not `z.record`: it drops the key `__proto__`. */
const Configuration = z
  .custom<Document>(isConfiguration, "Send a JSON object.")
  .openapi("Configuration", {
    type: "object",
    additionalProperties: {},
    description:
      `A JSON object of at most ${KIBIBYTES} KiB, which deployments change. A request may nest ` +
      `objects and arrays at most ${LIMITS.documentDepth.value} levels deep.`,
    example: { replicas: 2, features: { search: true } },
  });

const ConfigurationInput = Configuration.superRefine((configuration, ctx) => {
  const problem = documentProblem(configuration);
  if (problem) return ctx.addIssue({ code: "custom", ...problem });
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

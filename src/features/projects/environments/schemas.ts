import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { documentProblem } from "../../../lib/json-document.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import {
  CHANGED_FIELDS,
  identifierInput,
  identifierOf,
  slug,
  timestampOf,
} from "../../../lib/schemas.ts";
import { configurationProblem, type Configuration as Document, isConfiguration } from "./model.ts";

export const Name = slug().openapi({
  description: "Unique in the project.",
  example: "production",
});

/** Not `z.record`: it drops the key `__proto__`. */
export const Configuration = z
  .custom<Document>(isConfiguration, "Send a JSON object.")
  .openapi("Configuration", {
    type: "object",
    additionalProperties: {},
    description:
      `A JSON object of at most ${sizeOf(LIMITS.configurationBytes.value)}, which deployments change. A request may nest ` +
      `objects and arrays at most ${LIMITS.documentDepth.value} levels deep. A stack whose object below ` +
      "`stacks` names a built-in `executor` has the settings of that one. A stack needs those that the list `needs` of its " +
      "object names, and those whose outputs it refers to (`outputs.NAME.output`): they are deployed before it.",
    example: { replicas: 2, features: { search: true } },
  });

const ConfigurationInput = Configuration.superRefine((configuration, ctx) => {
  const problem = documentProblem(configuration);
  if (problem) return ctx.addIssue({ code: "custom", ...problem });
  const message = configurationProblem(configuration);
  if (message) ctx.addIssue({ code: "custom", message });
});

export const CreateEnvironment = z
  .strictObject({
    name: Name,
    configuration: ConfigurationInput.default({}).openapi({
      description: "The first configuration. Default: an empty object.",
    }),
  })
  .openapi("CreateEnvironment", {
    description: "The environment to create.",
    example: { name: "staging", configuration: { replicas: 1 } },
  });

export const ReplaceEnvironment = z
  .strictObject({ name: Name, configuration: ConfigurationInput })
  .openapi("ReplaceEnvironment", {
    description: "All fields of an environment that a request can set.",
    example: { name: "production", configuration: { replicas: 2 } },
  });

export const EnvironmentOrder = z
  .strictObject({
    environment_ids: z
      .array(identifierInput("environment"))
      .max(
        LIMITS.orderedEnvironments.value,
        `Send at most ${LIMITS.orderedEnvironments.value} environments.`,
      )
      .refine((ids) => new Set(ids).size === ids.length, "Send each environment once.")
      .openapi({
        description: "All environments of the project, the first to show first.",
      }),
  })
  .openapi("EnvironmentOrder", {
    description: "The order of a project's environments.",
    example: { environment_ids: [EXAMPLE_IDS.stagingEnvironment, EXAMPLE_IDS.environment] },
  });

export const UpdateEnvironment = z
  .strictObject({
    name: Name.optional(),
    url_stack_id: identifierInput("stack").nullable().optional().openapi({
      description:
        "A stack of the environment, whose output `url` is the environment's. Null: that of the stack that last reported one.",
    }),
  })
  .openapi("UpdateEnvironment", {
    description: CHANGED_FIELDS,
    example: { name: "production-eu" },
  });

export function toChange({ name, url_stack_id: urlStackId }: z.output<typeof UpdateEnvironment>) {
  return { name, urlStackId };
}

export const Environment = z
  .object({
    id: identifierOf("environment", "The environment's own ID."),
    project_id: identifierOf("project", "The project that the environment belongs to."),
    name: Name,
    configuration: Configuration,
    position: z
      .number()
      .int()
      .optional()
      .openapi({
        description:
          "Its place in the order of the project's environments, from 1. Deleted ones leave gaps. Absent if it is newer " +
          "than the order: those come last, the oldest first.",
        example: 2,
      }),
    url_stack_id: identifierOf(
      "stack",
      "The stack whose output `url` is the environment's. Absent: the stack that last reported one.",
    ).optional(),
    created_at: timestampOf("When the environment was created."),
    updated_at: timestampOf("When the name or the configuration last changed."),
  })
  .openapi("Environment", {
    description: "A place that a project runs in, such as production or staging.",
  });

export const EnvironmentList = envelopeOf(Environment, "EnvironmentList");

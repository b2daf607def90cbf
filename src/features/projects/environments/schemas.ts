import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { documentProblem } from "../../../lib/json-document.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { sizeOf } from "../../../lib/quantities.ts";
import { CHANGED_FIELDS, component, identifierInput, slug } from "../../../lib/schemas.ts";
import { configurationProblem, type Configuration as Document, isConfiguration } from "./model.ts";

export const Name = lazy(() =>
  slug().openapi(
    documented(() => ({ description: "Unique in the project.", example: "production" })),
  ),
);

/** Not `z.record`: it drops the key `__proto__`. */
export const Configuration = component("Configuration", () =>
  z.custom<Document>(isConfiguration, "Send a JSON object.").openapi(
    documented(() => ({
      type: "object",
      additionalProperties: {},
      description:
        `A JSON object of at most ${sizeOf(LIMITS.configurationBytes.value)}, which deployments change. A request may nest ` +
        `objects and arrays at most ${LIMITS.documentDepth.value} levels deep. A stack whose object below ` +
        "`stacks` names a built-in `executor` has the settings of that one.",
      example: { replicas: 2, features: { search: true } },
    })),
  ),
);

const ConfigurationInput = lazy(() =>
  Configuration().superRefine((configuration, ctx) => {
    const problem = documentProblem(configuration);
    if (problem) return ctx.addIssue({ code: "custom", ...problem });
    const message = configurationProblem(configuration);
    if (message) ctx.addIssue({ code: "custom", message });
  }),
);

export const CreateEnvironment = component("CreateEnvironment", () =>
  z
    .strictObject({
      name: Name(),
      configuration: ConfigurationInput()
        .default({})
        .openapi(
          documented(() => ({
            description: "The first configuration. Default: an empty object.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The environment to create.",
        example: { name: "staging", configuration: { replicas: 1 } },
      })),
    ),
);

export const ReplaceEnvironment = component("ReplaceEnvironment", () =>
  z.strictObject({ name: Name(), configuration: ConfigurationInput() }).openapi(
    documented(() => ({
      description: "All fields of an environment that a request can set.",
      example: { name: "production", configuration: { replicas: 2 } },
    })),
  ),
);

export const EnvironmentOrder = component("EnvironmentOrder", () =>
  z
    .strictObject({
      environment_ids: z
        .array(identifierInput("environment"))
        .max(
          LIMITS.orderedEnvironments.value,
          `Send at most ${LIMITS.orderedEnvironments.value} environments.`,
        )
        .refine((ids) => new Set(ids).size === ids.length, "Send each environment once.")
        .openapi(
          documented(() => ({
            description: "All environments of the project, the first to show first.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The order of a project's environments.",
        example: { environment_ids: [EXAMPLE_IDS.stagingEnvironment, EXAMPLE_IDS.environment] },
      })),
    ),
);

export const UpdateEnvironment = component("UpdateEnvironment", () =>
  z.strictObject({ name: Name().optional() }).openapi(
    documented(() => ({
      description: CHANGED_FIELDS,
      example: { name: "production-eu" },
    })),
  ),
);

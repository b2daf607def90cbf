import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { CHANGED_FIELDS, component, identifierInput, nameInput } from "../../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "../../tenancy/model.ts";

const MAXIMUM_ENVIRONMENTS = LIMITS.poolEnvironments.value;
const COUNT = `Send 1 to ${MAXIMUM_ENVIRONMENTS} environments.`;

export const ENVIRONMENTS = documented(
  () => "The environments whose deployments the pool's runners may claim.",
);
export const RUN_TIME = documented(
  () =>
    "The maximum duration of a run, in seconds. A run that takes longer must cancel, also if it " +
    "sends heartbeats, and its deployment fails with the reason `run_timeout`.",
);
const SECONDS =
  `Send a whole number of seconds from ${LIMITS.minimumRunSeconds.value} to ` +
  `${LIMITS.maximumRunSeconds.value}.`;

export const Name = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "Unique in the organization.",
      example: "eu",
    })),
  ),
);
const EnvironmentIds = lazy(() =>
  z
    .array(identifierInput("environment"), COUNT)
    .min(1, COUNT)
    .max(MAXIMUM_ENVIRONMENTS, COUNT)
    .openapi(documented(() => ({ description: ENVIRONMENTS }))),
);
const MaximumRunSeconds = lazy(() =>
  z
    .int(SECONDS)
    .min(LIMITS.minimumRunSeconds.value, SECONDS)
    .max(LIMITS.maximumRunSeconds.value, SECONDS),
);

export const CreateRunnerPool = component("CreateRunnerPool", () =>
  z
    .strictObject({
      name: Name(),
      environment_ids: EnvironmentIds(),
      max_run_seconds: MaximumRunSeconds()
        .default(DEFAULT_RUN_SECONDS)
        .openapi(
          documented(() => ({
            description: `${RUN_TIME} Default: ${durationOf(DEFAULT_RUN_SECONDS * 1000)}.`,
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "The pool to create.",
        example: { name: "eu", environment_ids: [EXAMPLE_IDS.environment] },
      })),
    ),
);

export const UpdateRunnerPool = component("UpdateRunnerPool", () =>
  z
    .strictObject({
      name: Name().optional(),
      environment_ids: EnvironmentIds()
        .optional()
        .openapi(
          documented(() => ({
            description: `${ENVIRONMENTS} They replace the present ones.`,
          })),
        ),
      max_run_seconds: MaximumRunSeconds()
        .optional()
        .openapi(
          documented(() => ({
            description: `${RUN_TIME} Runs that have started keep theirs.`,
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: CHANGED_FIELDS,
        example: { name: "eu-west" },
      })),
    ),
);

import { z } from "@hono/zod-openapi";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import {
  CHANGED_FIELDS,
  identifierInput,
  identifierOf,
  identifiersOf,
  nameInput,
  timestampOf,
} from "../../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "../../tenancy/model.ts";

const MAXIMUM_ENVIRONMENTS = LIMITS.poolEnvironments.value;
const COUNT = `Send 1 to ${MAXIMUM_ENVIRONMENTS} environments.`;

export const ENVIRONMENTS = "The environments whose deployments the pool's runners may claim.";
export const RUN_TIME =
  "The maximum duration of a run, in seconds. A run that takes longer must cancel, also if it " +
  "sends heartbeats, and its deployment fails with the reason `run_timeout`.";
const SECONDS =
  `Send a whole number of seconds from ${LIMITS.minimumRunSeconds.value} to ` +
  `${LIMITS.maximumRunSeconds.value}.`;

export const Name = nameInput(LIMITS.nameLength.value).openapi({
  description: "Unique in the organization.",
  example: "eu",
});
const EnvironmentIds = z
  .array(identifierInput("environment"), COUNT)
  .min(1, COUNT)
  .max(MAXIMUM_ENVIRONMENTS, COUNT)
  .openapi({ description: ENVIRONMENTS });
const MaximumRunSeconds = z
  .int(SECONDS)
  .min(LIMITS.minimumRunSeconds.value, SECONDS)
  .max(LIMITS.maximumRunSeconds.value, SECONDS);

export const CreateRunnerPool = z
  .strictObject({
    name: Name,
    environment_ids: EnvironmentIds,
    max_run_seconds: MaximumRunSeconds.default(DEFAULT_RUN_SECONDS).openapi({
      description: `${RUN_TIME} Default: ${durationOf(DEFAULT_RUN_SECONDS * 1000)}.`,
    }),
  })
  .openapi("CreateRunnerPool", {
    description: "The pool to create.",
    example: { name: "eu", environment_ids: [EXAMPLE_IDS.environment] },
  });

export const UpdateRunnerPool = z
  .strictObject({
    name: Name.optional(),
    environment_ids: EnvironmentIds.optional().openapi({
      description: `${ENVIRONMENTS} They replace the present ones.`,
    }),
    max_run_seconds: MaximumRunSeconds.optional().openapi({
      description: `${RUN_TIME} Runs that have started keep theirs.`,
    }),
  })
  .openapi("UpdateRunnerPool", {
    description: CHANGED_FIELDS,
    example: { name: "eu-west" },
  });

export const RunnerPool = z
  .object({
    id: identifierOf("runnerPool", "The `pool_id` in the paths."),
    org_id: identifierOf("organization", "The organization that owns the pool."),
    name: Name,
    environment_ids: identifiersOf("environment").openapi({ description: ENVIRONMENTS }),
    max_run_seconds: z
      .int()
      .min(0)
      .openapi({ description: RUN_TIME, example: DEFAULT_RUN_SECONDS }),
    created_at: timestampOf("When the pool was created."),
    updated_at: timestampOf("When the pool last changed."),
  })
  .openapi("RunnerPool", { description: "A group of runners that deploy the same environments." });

export const RunnerPoolList = envelopeOf(RunnerPool, "RunnerPoolList");

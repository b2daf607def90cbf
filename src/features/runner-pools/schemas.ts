import { z } from "@hono/zod-openapi";
import { RUNNER_TOKEN_PATTERN } from "../../auth/credentials.ts";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  component,
  identifierInput,
  identifierOf,
  identifiersOf,
  text,
  timestampOf,
} from "../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "./model.ts";

const MAXIMUM_ENVIRONMENTS = LIMITS.poolEnvironments.value;
const COUNT = `Send 1 to ${MAXIMUM_ENVIRONMENTS} environments.`;

const ENVIRONMENTS = "The environments whose deployments the pool's runners may claim.";
const RUN_TIME =
  "The maximum duration of a run, in seconds. A run that takes longer must cancel, also if it " +
  "sends heartbeats, and its deployment fails with the reason `run_timeout`.";
const SECONDS =
  `Send a whole number of seconds from ${LIMITS.minimumRunSeconds.value} to ` +
  `${LIMITS.maximumRunSeconds.value}.`;

const Name = text(LIMITS.nameLength.value).openapi({
  description: "Unique in the organization.",
  example: "eu",
});
const TokenName = text(LIMITS.nameLength.value).openapi({
  description: "What the token is for.",
  example: "ci",
});

export const RunnerPool = component(
  "RunnerPool",
  z
    .object({
      id: identifierOf("runnerPool", "The `pool_id` in the paths."),
      org_id: identifierOf("organization", "The organization that owns the pool."),
      name: Name,
      environment_ids: identifiersOf("environment").openapi({ description: ENVIRONMENTS }),
      max_run_seconds: z.int().openapi({ description: RUN_TIME, example: DEFAULT_RUN_SECONDS }),
      created_at: timestampOf("When the pool was created."),
      updated_at: timestampOf("When the pool last changed."),
    })
    .openapi({ description: "A group of runners that deploy the same environments." }),
);

export const RunnerPoolList = envelopeOf(RunnerPool, "RunnerPoolList");

export const CreateRunnerPool = component(
  "CreateRunnerPool",
  z
    .strictObject({
      name: Name,
      environment_ids: z
        .array(identifierInput("environment"))
        .min(1, COUNT)
        .max(MAXIMUM_ENVIRONMENTS, COUNT)
        .openapi({ description: ENVIRONMENTS }),
      max_run_seconds: z
        .int(SECONDS)
        .min(LIMITS.minimumRunSeconds.value, SECONDS)
        .max(LIMITS.maximumRunSeconds.value, SECONDS)
        .default(DEFAULT_RUN_SECONDS)
        .openapi({ description: `${RUN_TIME} Default: six hours.` }),
    })
    .openapi({
      description: "The pool to create.",
      example: { name: "eu", environment_ids: [EXAMPLE_IDS.environment] },
    }),
);

export const CreateRunnerToken = component(
  "CreateRunnerToken",
  z
    .strictObject({ name: TokenName })
    .openapi({ description: "The token to create.", example: { name: "ci" } }),
);

export const CreatedRunnerToken = component(
  "CreatedRunnerToken",
  z
    .object({
      id: identifierOf("runnerToken", "The `token_id` in the paths, and a part of the token."),
      pool_id: identifierOf("runnerPool", "The only pool that the token is valid for."),
      name: TokenName,
      last_four: z
        .string()
        .openapi({ description: "The last four characters of the token.", example: "uOhD" }),
      created_at: timestampOf("When the token was created."),
      token: z
        .string()
        .regex(RUNNER_TOKEN_PATTERN)
        .openapi({
          description: "The token, shown only once. It cannot be read again: store it now.",
          example: `lsr_${EXAMPLE_IDS.runnerToken}_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD`,
        }),
    })
    .openapi({ description: "A new runner token. Only this response contains the secret." }),
);

export const RunnerPoolParams = z.object({
  ...idParam("org_id", "organization", "organization"),
  ...idParam("pool_id", "runner pool", "runnerPool"),
});

export const RunnerTokenParams = RunnerPoolParams.extend(
  idParam("token_id", "runner token", "runnerToken"),
);

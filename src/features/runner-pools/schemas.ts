import { z } from "@hono/zod-openapi";
import { RUNNER_TOKEN_PATTERN } from "../../auth/credentials.ts";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { LIMITS } from "../../lib/limits.ts";
import { EXAMPLE_ID, Identifier, IdentifierInput, Timestamp, text } from "../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "./model.ts";

const MAXIMUM_ENVIRONMENTS = LIMITS.poolEnvironments.value;
const COUNT = `Send 1 to ${MAXIMUM_ENVIRONMENTS} environments.`;

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

export const RunnerPool = z
  .object({
    id: Identifier,
    org_id: Identifier,
    name: Name,
    environment_ids: z.array(Identifier).openapi({
      description: "The environments whose deployments its runners may claim.",
    }),
    max_run_seconds: z.int().openapi({ description: RUN_TIME, example: DEFAULT_RUN_SECONDS }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi("RunnerPool");

export const RunnerPoolList = envelopeOf(RunnerPool, "RunnerPoolList");

export const CreateRunnerPool = z
  .strictObject({
    name: Name,
    environment_ids: z.array(IdentifierInput).min(1, COUNT).max(MAXIMUM_ENVIRONMENTS, COUNT),
    max_run_seconds: z
      .int(SECONDS)
      .min(LIMITS.minimumRunSeconds.value, SECONDS)
      .max(LIMITS.maximumRunSeconds.value, SECONDS)
      .default(DEFAULT_RUN_SECONDS)
      .openapi({ description: `${RUN_TIME} Default: six hours.` }),
  })
  .openapi("CreateRunnerPool", { example: { name: "eu", environment_ids: [EXAMPLE_ID] } });

export const CreateRunnerToken = z
  .strictObject({ name: TokenName })
  .openapi("CreateRunnerToken", { example: { name: "ci" } });

export const CreatedRunnerToken = z
  .object({
    id: Identifier,
    pool_id: Identifier,
    name: TokenName,
    last_four: z
      .string()
      .openapi({ description: "The last four characters of the token.", example: "uOhD" }),
    created_at: Timestamp,
    token: z.string().regex(RUNNER_TOKEN_PATTERN).openapi({
      description: "The token, shown only once. It cannot be read again: store it now.",
      example: "lsr_1C4dSLTQ9wKmCkmG3EtMZp_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD",
    }),
  })
  .openapi("CreatedRunnerToken");

export const RunnerPoolParams = z.object({
  ...idParam("org_id", "organization"),
  ...idParam("pool_id", "runner pool"),
});

export const RunnerTokenParams = RunnerPoolParams.extend(idParam("token_id", "runner token"));

import { z } from "@hono/zod-openapi";
import { RUNNER_TOKEN_PATTERN } from "../../auth/credentials.ts";
import { envelopeOf } from "../../http/pagination.ts";
import { idParam } from "../../http/params.ts";
import { EXAMPLE_IDS } from "../../lib/example-ids.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import {
  component,
  identifierInput,
  identifierOf,
  identifiersOf,
  text,
  timestampInput,
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

const OVERLAP = `Send a whole number of seconds from 0 to ${LIMITS.tokenOverlapSeconds.value}.`;

const Name = lazy(() =>
  text(LIMITS.nameLength.value).openapi({
    description: "Unique in the organization.",
    example: "eu",
  }),
);
const TokenName = lazy(() =>
  text(LIMITS.nameLength.value).openapi({
    description: "What the token is for.",
    example: "ci",
  }),
);

export const RunnerPool = component("RunnerPool", () =>
  z
    .object({
      id: identifierOf("runnerPool", "The `pool_id` in the paths."),
      org_id: identifierOf("organization", "The organization that owns the pool."),
      name: Name(),
      environment_ids: identifiersOf("environment").openapi({ description: ENVIRONMENTS }),
      max_run_seconds: z.int().openapi({ description: RUN_TIME, example: DEFAULT_RUN_SECONDS }),
      created_at: timestampOf("When the pool was created."),
      updated_at: timestampOf("When the pool last changed."),
    })
    .openapi({ description: "A group of runners that deploy the same environments." }),
);

export const RunnerPoolList = envelopeOf(RunnerPool, "RunnerPoolList");

const EnvironmentIds = lazy(() =>
  z
    .array(identifierInput("environment"), COUNT)
    .min(1, COUNT)
    .max(MAXIMUM_ENVIRONMENTS, COUNT)
    .openapi({ description: ENVIRONMENTS }),
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
        .openapi({
          description: `${RUN_TIME} Default: six hours.`,
        }),
    })
    .openapi({
      description: "The pool to create.",
      example: { name: "eu", environment_ids: [EXAMPLE_IDS.environment] },
    }),
);

export const UpdateRunnerPool = component("UpdateRunnerPool", () =>
  z
    .strictObject({
      name: Name().optional(),
      environment_ids: EnvironmentIds()
        .optional()
        .openapi({
          description: `${ENVIRONMENTS} They replace the present ones.`,
        }),
      max_run_seconds: MaximumRunSeconds()
        .optional()
        .openapi({
          description: `${RUN_TIME} Runs that have started keep theirs.`,
        }),
    })
    .openapi({
      description: "The fields to change. The others stay as they are.",
      example: { name: "eu-west" },
    }),
);

export const CreateRunnerToken = component("CreateRunnerToken", () =>
  z
    .strictObject({
      name: TokenName(),
      expires_at: timestampInput()
        .nullish()
        .openapi({
          description:
            "A time in the future, not after the expiry of your own key. Absent or null: the expiry of " +
            "your own key; if it has none, the token does not expire.",
          example: "2027-11-21T09:30:00.000Z",
        }),
    })
    .openapi({ description: "The token to create.", example: { name: "ci" } }),
);

export const RotateRunnerToken = component("RotateRunnerToken", () =>
  z
    .strictObject({
      overlap_seconds: z
        .int(OVERLAP)
        .min(0, OVERLAP)
        .max(LIMITS.tokenOverlapSeconds.value, OVERLAP)
        .default(0)
        .openapi({
          description:
            "How long the old token remains valid, if it does not expire before. 0 revokes it at once.",
        }),
    })
    .openapi({ description: "How to rotate the token.", example: { overlap_seconds: 3_600 } }),
);

const CreatedBy = component("RunnerTokenCreator", () =>
  z
    .object({
      key_id: identifierOf("apiKey", "The key with which the token or its trust was created."),
      membership_id: identifierOf("membership", "The membership of that key."),
    })
    .openapi({ description: "Who created the token. Absent: it is older than this field." }),
);

export const RunnerToken = component("RunnerToken", () =>
  z
    .object({
      id: identifierOf("runnerToken", "The `token_id` in the paths, and a part of the token."),
      pool_id: identifierOf("runnerPool", "The only pool that the token is valid for."),
      name: TokenName(),
      last_four: z
        .string()
        .openapi({ description: "The last four characters of the token.", example: "uOhD" }),
      expires_at: timestampOf(
        "The token is rejected from this time on. Absent: the token does not expire.",
      ).optional(),
      last_used_at: timestampOf(
        "The time of the last use, to the hour. Absent: the token was never used.",
      ).optional(),
      created_by: CreatedBy().optional(),
      trust_id: identifierOf(
        "trust",
        "The trust that the token was issued by. Absent: an admin created the token.",
      ).optional(),
      created_at: timestampOf("When the token was created."),
    })
    .openapi({ description: "A runner token, without the secret itself." }),
);

export const RunnerTokenList = envelopeOf(RunnerToken, "RunnerTokenList");

export const CreatedRunnerToken = component("CreatedRunnerToken", () =>
  z
    .object({
      ...RunnerToken().shape,
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

export const RunnerPoolParams = lazy(() =>
  z.object({
    ...idParam("org_id", "organization", "organization"),
    ...idParam("pool_id", "runner pool", "runnerPool"),
  }),
);

export const RunnerTokenParams = lazy(() =>
  RunnerPoolParams().extend(idParam("token_id", "runner token", "runnerToken")),
);

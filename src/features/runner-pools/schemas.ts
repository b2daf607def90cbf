import { z } from "@hono/zod-openapi";
import { documented, EXAMPLE_IDS } from "#documented";
import { idParam } from "../../http/params.ts";
import { lazy } from "../../lib/lazy.ts";
import { LIMITS } from "../../lib/limits.ts";
import { durationOf } from "../../lib/quantities.ts";
import {
  CHANGED_FIELDS,
  component,
  identifierInput,
  text,
  timestampInput,
} from "../../lib/schemas.ts";
import { DEFAULT_RUN_SECONDS } from "../tenancy/model.ts";

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

const OVERLAP = `Send a whole number of seconds from 0 to ${LIMITS.tokenOverlapSeconds.value}.`;

export const Name = lazy(() =>
  text(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "Unique in the organization.",
      example: "eu",
    })),
  ),
);
export const TokenName = lazy(() =>
  text(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "What the token is for.",
      example: "ci",
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

export const CreateRunnerToken = component("CreateRunnerToken", () =>
  z
    .strictObject({
      name: TokenName(),
      expires_at: timestampInput()
        .nullish()
        .openapi(
          documented(() => ({
            description:
              "A time in the future, not after the expiry of your own key. Absent or null: the expiry of " +
              "your own key; if it has none, the token does not expire.",
            example: "2027-11-21T09:30:00.000Z",
          })),
        ),
    })
    .openapi(documented(() => ({ description: "The token to create.", example: { name: "ci" } }))),
);

export const RotateRunnerToken = component("RotateRunnerToken", () =>
  z
    .strictObject({
      overlap_seconds: z
        .int(OVERLAP)
        .min(0, OVERLAP)
        .max(LIMITS.tokenOverlapSeconds.value, OVERLAP)
        .default(0)
        .openapi(
          documented(() => ({
            description:
              "How long the old token remains valid, if it does not expire before. 0 revokes it at once.",
          })),
        ),
    })
    .openapi(
      documented(() => ({
        description: "How to rotate the token.",
        example: { overlap_seconds: 3_600 },
      })),
    ),
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

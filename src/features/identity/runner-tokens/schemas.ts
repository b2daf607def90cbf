import { z } from "@hono/zod-openapi";
import { RUNNER_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { idParam, RunnerPoolParams } from "../../../http/params.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { identifierOf, nameInput, timestampInput, timestampOf } from "../../../lib/schemas.ts";

const OVERLAP = `Send a whole number of seconds from 0 to ${LIMITS.tokenOverlapSeconds.value}.`;

export const TokenName = nameInput(LIMITS.nameLength.value).openapi({
  description: "What the token is for.",
  example: "ci",
});

export const CreateRunnerToken = z
  .strictObject({
    name: TokenName,
    expires_at: timestampInput()
      .nullish()
      .openapi({
        description:
          "A time in the future, not after the expiry of your own key. Absent or null: the expiry of " +
          "your own key; if it has none, the token does not expire.",
        example: "2027-11-21T09:30:00.000Z",
      }),
  })
  .openapi("CreateRunnerToken", { description: "The token to create.", example: { name: "ci" } });

export const RotateRunnerToken = z
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
  .openapi("RotateRunnerToken", {
    description: "How to rotate the token.",
    example: { overlap_seconds: 3_600 },
  });

export const RunnerTokenParams = RunnerPoolParams.extend(
  idParam("token_id", "runner token", "runnerToken"),
);

const CreatedBy = z
  .object({
    key_id: identifierOf("apiKey", "The key with which the token or its trust was created."),
    membership_id: identifierOf("membership", "The membership of that key."),
  })
  .openapi("RunnerTokenCreator", {
    description: "Who created the token. Absent: it is older than this field.",
  });

export const RunnerToken = z
  .object({
    id: identifierOf("runnerToken", "The `token_id` in the paths, and a part of the token."),
    pool_id: identifierOf("runnerPool", "The only pool that the token is valid for."),
    name: TokenName,
    last_four: z
      .string()
      .openapi({ description: "The last four characters of the token.", example: "uOhD" }),
    expires_at: timestampOf(
      "The token is rejected from this time on. Absent: the token does not expire.",
    ).optional(),
    last_used_at: timestampOf(
      "The time of the last use, to the hour. Absent: the token was never used.",
    ).optional(),
    created_by: CreatedBy.optional(),
    trust_id: identifierOf(
      "trust",
      "The trust that the token was issued by. Absent: an admin created the token.",
    ).optional(),
    created_at: timestampOf("When the token was created."),
  })
  .openapi("RunnerToken", { description: "A runner token, without the secret itself." });

export const RunnerTokenList = envelopeOf(RunnerToken, "RunnerTokenList");

export const CreatedRunnerToken = z
  .object({
    ...RunnerToken.shape,
    token: z
      .string()
      .regex(RUNNER_TOKEN_PATTERN)
      .openapi({
        description: "The token, shown only once. It cannot be read again: store it now.",
        example: `lsr_${EXAMPLE_IDS.runnerToken}_8aspm4G7VmSUfOoD6V1vrORcmn0iSHkpEby6vK111fY0yuOhD`,
      }),
  })
  .openapi("CreatedRunnerToken", {
    description: "A new runner token. Only this response contains the secret.",
  });

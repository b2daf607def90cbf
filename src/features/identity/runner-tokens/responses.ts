import { z } from "@hono/zod-openapi";
import { RUNNER_TOKEN_PATTERN } from "../../../auth/credentials.ts";
import { envelopeOf } from "../../../http/pagination.ts";
import { EXAMPLE_IDS } from "../../../lib/example-ids.ts";
import { component, identifierOf, timestampOf } from "../../../lib/schemas.ts";
import { TokenName } from "./schemas.ts";

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

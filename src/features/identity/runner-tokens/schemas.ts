import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { idParam, RunnerPoolParams } from "../../../http/params.ts";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { component, nameInput, timestampInput } from "../../../lib/schemas.ts";

const OVERLAP = `Send a whole number of seconds from 0 to ${LIMITS.tokenOverlapSeconds.value}.`;

export const TokenName = lazy(() =>
  nameInput(LIMITS.nameLength.value).openapi(
    documented(() => ({
      description: "What the token is for.",
      example: "ci",
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

export const RunnerTokenParams = lazy(() =>
  RunnerPoolParams().extend(idParam("token_id", "runner token", "runnerToken")),
);

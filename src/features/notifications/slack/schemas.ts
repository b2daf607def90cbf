import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { line } from "../../../lib/schemas.ts";

const parameter = (metadata: { description: string }) =>
  line(LIMITS.callbackLength.value).optional().openapi(metadata);

export const CallbackQuery = lazy(() =>
  z.object({
    code: parameter(documented(() => ({ description: "The authorization code from Slack." }))),
    state: parameter(
      documented(() => ({ description: "The state that the installation started with." })),
    ),
    error: parameter(documented(() => ({ description: "Why Slack issued no code." }))),
  }),
);

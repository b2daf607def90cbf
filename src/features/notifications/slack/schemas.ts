import { z } from "@hono/zod-openapi";
import { documented } from "#documented";
import { lazy } from "../../../lib/lazy.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { line } from "../../../lib/schemas.ts";

const parameter = (description: string) =>
  line(LIMITS.callbackLength.value)
    .optional()
    .openapi(documented(() => ({ description })));

export const CallbackQuery = lazy(() =>
  z.object({
    code: parameter("The authorization code from Slack."),
    state: parameter("The state that the installation started with."),
    error: parameter("Why Slack issued no code."),
  }),
);

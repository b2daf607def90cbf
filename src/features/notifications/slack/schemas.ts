import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { durationOf } from "../../../lib/quantities.ts";
import { line } from "../../../lib/schemas.ts";
import { STATE_TTL_MS } from "./state.ts";

const parameter = (metadata: { description: string }) =>
  line(LIMITS.callbackLength.value).optional().openapi(metadata);

export const CallbackQuery = z.object({
  code: parameter({ description: "The authorization code from Slack." }),
  state: parameter({ description: "The state that the installation started with." }),
  error: parameter({ description: "Why Slack issued no code." }),
});

const EXAMPLE_URL =
  "https://slack.com/oauth/v2/authorize?client_id=1.2&scope=incoming-webhook" +
  "&redirect_uri=https%3A%2F%2Flongshore.example.com%2Fv1%2Fslack%2Fcallback&state=k1";

export const SlackInstallation = z
  .object({
    url: z.url().openapi({
      description: `Open this URL in a browser within ${durationOf(STATE_TTL_MS)}, choose a channel, and allow access.`,
      example: EXAMPLE_URL,
    }),
  })
  .openapi("SlackInstallation", {
    description: "The start of an installation, which a person finishes at Slack.",
  });

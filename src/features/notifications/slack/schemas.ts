import { z } from "@hono/zod-openapi";
import { LIMITS } from "../../../lib/limits.ts";
import { line } from "../../../lib/schemas.ts";
import { authorizationUrl } from "./oauth.ts";

const EXAMPLE_URL = authorizationUrl(
  { origin: "https://slack.com", clientId: "1.2" },
  { redirectUri: "https://longshore.example.com/v1/slack/callback", state: "k1" },
);

export const SlackInstallation = z
  .object({
    url: z.url().openapi({
      description: "Open it in a browser within ten minutes, choose a channel, and allow it.",
      example: EXAMPLE_URL,
    }),
  })
  .openapi("SlackInstallation");

const given = (what: string) =>
  line(LIMITS.callbackLength.value).optional().openapi({ description: what });

export const CallbackQuery = z.object({
  code: given("What Slack gave for the channel's webhook."),
  state: given("As the installation began with."),
  error: given("Why Slack gave no code."),
});

import { z } from "@hono/zod-openapi";
import { line } from "../../http/schemas.ts";

export const SlackInstallation = z
  .object({
    url: z.url().openapi({
      description: "Open it in a browser within ten minutes, choose a channel, and allow it.",
      example: "https://slack.com/oauth/v2/authorize?client_id=1.2&scope=incoming-webhook&state=k1",
    }),
  })
  .openapi("SlackInstallation");

const given = (what: string) => line(4_000).optional().openapi({ description: what });

export const CallbackQuery = z.object({
  code: given("What Slack gave for the channel's webhook."),
  state: given("As the installation began with."),
  error: given("Why Slack gave no code."),
});

import { z } from "@hono/zod-openapi";
import { durationOf } from "../../../lib/quantities.ts";
import { component } from "../../../lib/schemas.ts";
import { STATE_TTL_MS } from "./state.ts";

const EXAMPLE_URL =
  "https://slack.com/oauth/v2/authorize?client_id=1.2&scope=incoming-webhook" +
  "&redirect_uri=https%3A%2F%2Flongshore.example.com%2Fv1%2Fslack%2Fcallback&state=k1";

export const SlackInstallation = component("SlackInstallation", () =>
  z
    .object({
      url: z.url().openapi({
        description: `Open this URL in a browser within ${durationOf(STATE_TTL_MS)}, choose a channel, and allow access.`,
        example: EXAMPLE_URL,
      }),
    })
    .openapi({ description: "The start of an installation, which a person finishes at Slack." }),
);

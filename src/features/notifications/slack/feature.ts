import type { Feature } from "../../../feature.ts";

export const slackFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/slack/install", "/v1/slack/callback"],
      load: async () => (await import("./routes.ts")).slackRoutes,
    },
  ],
} satisfies Feature;

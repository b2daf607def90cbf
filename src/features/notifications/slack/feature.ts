import type { Feature } from "../../../feature.ts";
import { slackCallbackRoutes, slackRoutes } from "./routes.ts";
import { slackSettingsOf } from "./settings.ts";

export const slackFeature = {
  routes: {
    apiKey: [slackRoutes],
    public: ({ fetch, createContext }) =>
      slackCallbackRoutes((env, execution) => ({
        ...createContext(env, execution),
        fetch,
        slack: slackSettingsOf(env),
      })),
  },
} satisfies Feature;

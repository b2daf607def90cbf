import type { Feature } from "../../../feature.ts";
import { slackSettingsOf } from "./oauth.ts";
import { slackCallbackRoutes, slackRoutes } from "./routes.ts";

export const slackFeature = {
  routes: {
    apiKey: [slackRoutes],
    public: ({ fetch, createContext }) => [
      slackCallbackRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
        fetch,
        slack: slackSettingsOf(env),
      })),
    ],
  },
} satisfies Feature;

import type { Feature } from "../../../feature.ts";
import { slackCallbackRoutes, slackRoutes } from "./routes.ts";

export const slackFeature = {
  routes: {
    apiKey: [slackRoutes],
    public: ({ createContext }) => [
      slackCallbackRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      })),
    ],
  },
} satisfies Feature;

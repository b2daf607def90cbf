import type { Feature } from "../../../feature.ts";
import { bootstrapRoutes } from "./routes.ts";
import { bootstraps } from "./table.ts";

export const bootstrapFeature = {
  routes: {
    public: ({ createContext }) => [
      bootstrapRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      })),
    ],
  },
  tables: [
    {
      table: bootstraps,
      deletedWith: [],
      outlivesOrganization:
        "An installation is bootstrapped once, also if it has no organization left.",
    },
  ],
} satisfies Feature;

import type { Feature } from "../../../feature.ts";
import { choiceRoutes } from "./choice-routes.ts";
import { IdentityProvider } from "./provider.ts";
import { organizationSwitchRoutes, publicOpenIdConnectRoutes } from "./routes.ts";
import { sweepUsedSignIns } from "./service.ts";
import { usedSignIns } from "./table.ts";

export const openIdConnectFeature = {
  routes: {
    apiKey: [organizationSwitchRoutes],
    public: ({ createContext, invalidateKeys, ...deps }) => {
      const routes = publicOpenIdConnectRoutes(new IdentityProvider(deps), (env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      }));
      const choices = choiceRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
        invalidateKeys: (keys) => invalidateKeys(env, keys),
      }));
      return [routes, choices];
    },
  },
  tables: [{ table: usedSignIns, deletedWith: [] }],
  sweep: sweepUsedSignIns,
} satisfies Feature;

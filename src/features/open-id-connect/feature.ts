import type { Feature } from "../../feature.ts";
import { IdentityProvider } from "./provider.ts";
import { organizationSwitchRoutes, publicOpenIdConnectRoutes } from "./routes.ts";
import { sweepUsedSignIns } from "./service.ts";
import { usedSignIns } from "./table.ts";

export const openIdConnectFeature = {
  routes: {
    apiKey: [organizationSwitchRoutes],
    public: ({ createContext, ...deps }) =>
      publicOpenIdConnectRoutes(new IdentityProvider(deps), (env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      })),
  },
  tables: [{ table: usedSignIns, deletedWith: [] }],
  sweep: sweepUsedSignIns,
} satisfies Feature;

import type { Feature } from "../../feature.ts";
import { organizationSwitchRoutes, publicOpenIdConnectRoutes } from "./routes.ts";
import { sweepUsedSignIns } from "./service.ts";
import { usedSignIns } from "./table.ts";

export const openIdConnectFeature = {
  routes: { apiKey: [organizationSwitchRoutes], public: publicOpenIdConnectRoutes },
  tables: [{ table: usedSignIns, deletedWith: [] }],
  sweep: sweepUsedSignIns,
} satisfies Feature;

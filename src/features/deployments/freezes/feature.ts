import type { Feature } from "../../../feature.ts";
import { freezeRoutes } from "./routes.ts";
import { freezes } from "./table.ts";

export const freezesFeature = {
  routes: { apiKey: [freezeRoutes] },
  tables: [{ table: freezes, deletedWith: [freezes.projectId] }],
} satisfies Feature;

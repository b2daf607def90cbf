import type { Feature } from "../../../feature.ts";
import { revocationParts } from "../credentials/revocation-part-table.ts";
import { familyRoutes } from "./routes.ts";

export const familiesFeature = {
  routes: { apiKey: [familyRoutes] },
  tables: [{ table: revocationParts, deletedWith: [], notInBackups: "It is always empty." }],
} satisfies Feature;

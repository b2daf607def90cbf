import type { Feature } from "../../../feature.ts";
import { revocationParts } from "../credentials/revocation-part-table.ts";

export const familiesFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/api-keys/:key_id/family",
        "/v1/orgs/:org_id/members/:member_id/family",
        "/v1/orgs/:org_id/members/:member_id/sessions/:member_session_id/family",
      ],
      load: async () => (await import("./routes.ts")).familyRoutes,
    },
  ],
  tables: [{ table: revocationParts, deletedWith: [], notInBackups: "It is always empty." }],
} satisfies Feature;

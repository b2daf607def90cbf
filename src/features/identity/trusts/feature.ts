import type { Feature } from "../../../feature.ts";
import { trusts, usedTokens } from "../credentials/trust-table.ts";
import { removeExpired } from "./sweep.ts";

export const trustsFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/trusts", "/v1/orgs/:org_id/trusts/:trust_id", "/v1/oidc/token"],
      load: async (deps) => (await import("./routes.ts")).createTrustRoutes(deps),
    },
  ],
  tables: [
    {
      table: trusts,
      deletedWith: [trusts.membershipId, trusts.poolId],
    },
    {
      table: usedTokens,
      deletedWith: [],
    },
  ],
  sweep: removeExpired,
} satisfies Feature;

import type { Feature } from "../../../feature.ts";
import { trusts, usedTokens } from "../credentials/trust-table.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { exchangeRoutes, trustRoutes } from "./routes.ts";
import { removeExpired } from "./sweep.ts";

export const trustsFeature = {
  routes: {
    apiKey: [trustRoutes],
    public: ({ fetch, clock, createContext }) => [
      exchangeRoutes(new IssuerKeys(fetch, clock), createContext),
    ],
  },
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

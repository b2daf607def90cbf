import type { Feature } from "../../feature.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { exchangeRoutes, trustRoutes } from "./routes.ts";
import { removeExpired } from "./sweep.ts";
import { trusts, usedTokens } from "./table.ts";

export const trustsFeature = {
  tags: [
    {
      name: "Trusts",
      description:
        "Rules that let CI jobs exchange a token of their CI system for a key that expires soon, so " +
        "that no key is stored in the CI system.",
    },
  ],
  routes: {
    apiKey: [trustRoutes],
    public: ({ fetch, clock, createContext }) =>
      exchangeRoutes(new IssuerKeys(fetch, clock), createContext),
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

import type { Feature } from "../../feature.ts";
import { accountRoutes } from "./routes.ts";

export const accountFeature = {
  tags: [
    {
      name: "Account",
      description: "Who a key belongs to, and what a person can do with their own account.",
    },
  ],
  routes: { apiKey: [accountRoutes] },
} satisfies Feature;

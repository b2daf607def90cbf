import type { Feature } from "../../feature.ts";
import { serviceAccountRoutes } from "./routes.ts";

export const serviceAccountsFeature = {
  tags: [
    {
      name: "Service accounts",
      description: "Memberships of programs. They remain when the people who created them leave.",
    },
  ],
  routes: { apiKey: [serviceAccountRoutes] },
} satisfies Feature;

import type { Feature } from "../../../feature.ts";
import { changelogRoutes } from "./routes.ts";
import { changelogEntries } from "./table.ts";

export const changelogFeature = {
  routes: { apiKey: [changelogRoutes] },
  tables: [
    {
      table: changelogEntries,
      deletedWith: [changelogEntries.projectId],
      purged: true,
      retention: { period: "changelog" },
      history: { kind: "changelog" },
      rolled: {},
    },
  ],
} satisfies Feature;

import type { Feature } from "../../feature.ts";
import { changelogRoutes } from "./routes.ts";
import { changelogEntries } from "./table.ts";

export const changelogFeature = {
  tags: [
    {
      name: "Changelog",
      description: "The changes to the records of a project: who made them, and when.",
    },
  ],
  routes: { apiKey: [changelogRoutes] },
  tables: [
    {
      table: changelogEntries,
      deletedWith: [changelogEntries.projectId],
      purged: true,
      retention: { period: "changelog" },
    },
  ],
} satisfies Feature;

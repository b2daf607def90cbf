import type { Feature } from "../../feature.ts";
import { changelogRoutes } from "./routes.ts";
import { changelogEntries } from "./table.ts";

export const changelogFeature = {
  tags: [
    { name: "Changelog", description: "Who did what to which record of a project, and when." },
  ],
  routes: { apiKey: [changelogRoutes] },
  tables: [
    {
      table: changelogEntries,
      deletedWith: [changelogEntries.projectId],
    },
  ],
} satisfies Feature;

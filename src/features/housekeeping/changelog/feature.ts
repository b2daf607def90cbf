import type { Feature } from "../../../feature.ts";
import { changelogEntries } from "./table.ts";

export const changelogFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/changelog"],
      load: async () => (await import("./routes.ts")).changelogRoutes,
    },
  ],
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

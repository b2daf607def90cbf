import type { Feature } from "../../../feature.ts";
import { warnOfSize } from "./database-warning.ts";
import { sweepHistory } from "./history.ts";
import { historyPositions, historyUsage, limitChecks, usage } from "./table.ts";

export const usageFeature = {
  routes: [
    {
      paths: ["/v1/orgs/:org_id/usage"],
      load: async () => (await import("./routes.ts")).usageRoutes,
    },
  ],
  tables: [
    {
      table: usage,
      deletedWith: [],
      notInBackups: "Triggers count the rows again when they are restored.",
    },
    {
      table: historyUsage,
      deletedWith: [],
      notInBackups: "The schedule counts the rows again when they are restored.",
    },
    {
      table: historyPositions,
      deletedWith: [],
      notInBackups: "It belongs to the rowids of a database.",
    },
    {
      table: limitChecks,
      deletedWith: [],
      notInBackups: "It is always empty.",
    },
  ],
  async sweep(ctx) {
    await sweepHistory(ctx);
    await warnOfSize(ctx);
  },
} satisfies Feature;

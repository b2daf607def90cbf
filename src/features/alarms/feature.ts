import type { Feature } from "../../feature.ts";
import { alarmRoutes, alarmRoutesForRunners } from "./routes.ts";
import { alarms } from "./table.ts";

export const alarmsFeature = {
  tags: [{ name: "Alarms", description: "What is known of the health of stacks." }],
  routes: { apiKey: [alarmRoutes], runnerToken: [alarmRoutesForRunners] },
  tables: [
    {
      table: alarms,
      deletedWith: [alarms.stackId, alarms.projectId],
    },
  ],
} satisfies Feature;

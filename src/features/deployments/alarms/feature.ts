import type { Feature } from "../../../feature.ts";
import { alarmRoutes, alarmRoutesForRunners } from "./routes.ts";
import { alarms } from "./table.ts";

export const alarmsFeature = {
  routes: { apiKey: [alarmRoutes], runnerToken: [alarmRoutesForRunners] },
  tables: [
    {
      table: alarms,
      deletedWith: [alarms.stackId, alarms.projectId],
    },
  ],
} satisfies Feature;

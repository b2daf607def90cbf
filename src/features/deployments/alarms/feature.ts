import type { Feature } from "../../../feature.ts";
import { alarms } from "./table.ts";

export const alarmsFeature = {
  routes: [
    {
      paths: ["/v1/stacks/:stack_id/alarms", "/v1/stacks/:stack_id/alarms/:name"],
      load: async () => (await import("./routes.ts")).alarmRoutes,
    },
  ],
  tables: [
    {
      table: alarms,
      deletedWith: [alarms.stackId, alarms.projectId],
    },
  ],
} satisfies Feature;

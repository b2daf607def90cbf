import type { Feature } from "../../feature.ts";
import { projectMemberRoutes } from "./routes.ts";
import { projectMembers } from "./table.ts";

export const projectMembersFeature = {
  routes: { apiKey: [projectMemberRoutes] },
  tables: [
    {
      table: projectMembers,
      deletedWith: [projectMembers.projectId, projectMembers.membershipId],
    },
  ],
} satisfies Feature;

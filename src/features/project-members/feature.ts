import type { Feature } from "../../feature.ts";
import { LIMITS } from "../../lib/limits.ts";
import { projectMemberRoutes } from "./routes.ts";
import { projectMembers } from "./table.ts";

export const projectMembersFeature = {
  routes: { apiKey: [projectMemberRoutes] },
  quotas: { project_members: LIMITS.projectMembers.value },
  tables: [
    {
      table: projectMembers,
      deletedWith: [projectMembers.projectId, projectMembers.membershipId],
    },
  ],
} satisfies Feature;

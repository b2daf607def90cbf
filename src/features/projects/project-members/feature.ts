import type { Feature } from "../../../feature.ts";
import { projectMembers } from "../../tenancy/project-member-table.ts";
import { projectMemberRoutes } from "./routes.ts";

export const projectMembersFeature = {
  routes: { apiKey: [projectMemberRoutes] },
  tables: [
    {
      table: projectMembers,
      deletedWith: [projectMembers.projectId, projectMembers.membershipId],
    },
  ],
} satisfies Feature;

import type { Feature } from "../../../feature.ts";
import { projectMembers } from "../../tenancy/project-member-table.ts";

export const projectMembersFeature = {
  routes: [
    {
      paths: ["/v1/projects/:project_id/members", "/v1/projects/:project_id/members/:member_id"],
      load: async () => (await import("./routes.ts")).projectMemberRoutes,
    },
  ],
  tables: [
    {
      table: projectMembers,
      deletedWith: [projectMembers.projectId, projectMembers.membershipId],
    },
  ],
} satisfies Feature;

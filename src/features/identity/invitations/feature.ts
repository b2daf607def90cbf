import type { Feature } from "../../../feature.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { sweepInvitations } from "./service.ts";

export const invitationsFeature = {
  routes: [
    {
      paths: [
        "/v1/orgs/:org_id/invitations",
        "/v1/orgs/:org_id/invitations/:invitation_id",
        "/v1/invitations/accept",
        "/invitations/:token",
      ],
      load: async () => (await import("./routes.ts")).invitationRoutes,
    },
  ],
  tables: [{ table: invitations, deletedWith: [] }],
  sweep: sweepInvitations,
} satisfies Feature;

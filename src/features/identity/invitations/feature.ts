import type { Feature } from "../../../feature.ts";
import { invitations } from "../credentials/invitation-table.ts";
import { invitationRoutes, publicInvitationRoutes } from "./routes.ts";
import { sweepInvitations } from "./service.ts";

export const invitationsFeature = {
  routes: {
    apiKey: [invitationRoutes],
    public: ({ createContext }) => [
      publicInvitationRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      })),
    ],
  },
  tables: [{ table: invitations, deletedWith: [] }],
  sweep: sweepInvitations,
} satisfies Feature;

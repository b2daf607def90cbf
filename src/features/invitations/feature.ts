import type { Feature } from "../../feature.ts";
import { invitationRoutes, publicInvitationRoutes } from "./routes.ts";
import { sweepInvitations } from "./service.ts";
import { invitations } from "./table.ts";

export const invitationsFeature = {
  tags: [
    {
      name: "Invitations",
      description:
        "An administrator invites a person by e-mail address, and passes on a link that works once.",
    },
  ],
  routes: {
    apiKey: [invitationRoutes],
    public: ({ createContext }) =>
      publicInvitationRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
        settings: env,
      })),
  },
  tables: [{ table: invitations, deletedWith: [] }],
  sweep: sweepInvitations,
} satisfies Feature;

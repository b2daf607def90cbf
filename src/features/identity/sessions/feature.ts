import type { Feature } from "../../../feature.ts";
import { endedSessions, sessions, signInLinks } from "../credentials/session-table.ts";
import { publicSessionRoutes, sessionRoutes } from "./routes.ts";
import { sweepSessions } from "./service.ts";

const NOT_IN_BACKUPS = "A restore would bring back sessions that were revoked, and used links.";

export const sessionsFeature = {
  routes: {
    apiKey: [sessionRoutes],
    public: ({ createContext }) => [
      publicSessionRoutes((env, execution) => ({
        ...createContext(env, execution),
        origin: env.origin,
      })),
    ],
  },
  tables: [
    { table: sessions, deletedWith: [sessions.membershipId], notInBackups: NOT_IN_BACKUPS },
    { table: signInLinks, deletedWith: [signInLinks.membershipId], notInBackups: NOT_IN_BACKUPS },
    { table: endedSessions, deletedWith: [], retention: { period: "audit" } },
  ],
  sweep: sweepSessions,
} satisfies Feature;

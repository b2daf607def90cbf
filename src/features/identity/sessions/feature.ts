import type { Feature } from "../../../feature.ts";
import { endedSessions, sessions, signInLinks } from "../credentials/session-table.ts";
import { sweepSessions } from "./service.ts";

const NOT_IN_BACKUPS = "A restore would bring back sessions that were revoked, and used links.";

export const sessionsFeature = {
  routes: [
    {
      paths: [
        "/v1/sessions",
        "/v1/sessions/current",
        "/v1/sessions/:session_id",
        "/v1/orgs/:org_id/members/:member_id/sessions",
        "/v1/orgs/:org_id/members/:member_id/sessions/:member_session_id",
        "/v1/sign-in-links",
        "/sign-in/:token",
      ],
      load: async () => (await import("./routes.ts")).sessionRoutes,
    },
  ],
  tables: [
    { table: sessions, deletedWith: [sessions.membershipId], notInBackups: NOT_IN_BACKUPS },
    { table: signInLinks, deletedWith: [signInLinks.membershipId], notInBackups: NOT_IN_BACKUPS },
    { table: endedSessions, deletedWith: [], retention: { period: "audit" } },
  ],
  sweep: sweepSessions,
} satisfies Feature;

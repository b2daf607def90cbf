import { and, eq, exists, ne, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { projectConnections, projects } from "../table.ts";

export const FIELDS = ["provider", "accountId", "region", "roleArn", "externalId"] as const;

export type Connection = Pick<NewConnection, (typeof FIELDS)[number]>;

export type ConnectionRow = typeof projectConnections.$inferSelect;
export type NewConnection = typeof projectConnections.$inferInsert;

const within = (organizationId: string, id: string) =>
  and(eq(projects.organizationId, organizationId), eq(projects.id, id));

/** What a project is connected to. */
export function findConnection(db: Database, organizationId: string, projectId: string) {
  return db
    .select()
    .from(projectConnections)
    .where(
      and(
        eq(projectConnections.organizationId, organizationId),
        eq(projectConnections.projectId, projectId),
      ),
    );
}

/**
 * Connects a project, unless it is disconnecting; for one batch, the first statement gives the
 * project.
 */
export function connectProject(db: Database, connection: NewConnection) {
  const { projectId, organizationId, createdAt, ...change } = connection;
  const connected = db
    .select({ found: sql`1` })
    .from(projects)
    .where(and(eq(projects.id, projectId), eq(projects.connectionStatus, "connected")));
  return [
    db
      .update(projects)
      .set({ connectionStatus: "connected", updatedAt: connection.updatedAt })
      .where(and(within(organizationId, projectId), ne(projects.connectionStatus, "disconnecting")))
      .returning(),
    db
      .insert(projectConnections)
      .select(
        sql`select ${projectId}, ${organizationId}, ${connection.provider},
          ${connection.accountId}, ${connection.region}, ${connection.roleArn ?? null},
          ${connection.externalId ?? null}, ${createdAt}, ${connection.updatedAt}
          where ${exists(connected)}`,
      )
      .onConflictDoUpdate({ target: projectConnections.projectId, set: change }),
  ] as const;
}

/** Takes a connected project's connection away; for one batch that ends its deployments, too. */
export function beginDisconnecting(db: Database, organizationId: string, id: string, now: number) {
  return [
    db.delete(projectConnections).where(eq(projectConnections.projectId, id)),
    db
      .update(projects)
      .set({ connectionStatus: "disconnecting", updatedAt: now })
      .where(and(within(organizationId, id), eq(projects.connectionStatus, "connected"))),
  ] as const;
}

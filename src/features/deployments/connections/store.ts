import { and, eq, ne, sql } from "drizzle-orm";
import type { ServiceContext } from "../../../context.ts";
import { after } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { projects } from "../../tenancy/project-table.ts";
import { isDeployable } from "../deployments/index.ts";
import { projectConnections } from "./table.ts";

export const FIELDS = ["provider", "accountId", "region", "roleArn", "settings"] as const;

/** What callers write of it. */
export type ConnectionColumns = Pick<ConnectionRow, (typeof FIELDS)[number]>;

export type ConnectionRow = typeof projectConnections.$inferSelect;

const within = (organizationId: string, id: string) =>
  and(eq(projects.organizationId, organizationId), eq(projects.id, id));

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
 * Changes nothing while the project is disconnecting, or if the request expects another version of the
 * project. An external ID stays.
 */
export function connectProject(ctx: ServiceContext, row: ConnectionRow) {
  const { db } = ctx;
  const { projectId, organizationId, createdAt: _, ...change } = row;
  const externalId = sql`coalesce(${projectConnections.externalId}, excluded.external_id)`;
  const connected = db
    .update(projects)
    .set({
      connectionStatus: "connected",
      disconnectedAt: null,
      disconnectedBy: null,
      updatedAt: row.updatedAt,
      version: nextVersion(projects.version),
    })
    .where(
      and(
        within(organizationId, projectId),
        ne(projects.connectionStatus, "disconnecting"),
        hasExpectedVersion(ctx, projects.version),
      ),
    )
    .returning();
  const stored = after(connected, (hasChanged) =>
    insertFrom(db, projectConnections, row, sql`where ${hasChanged}`).onConflictDoUpdate({
      target: projectConnections.projectId,
      set: { ...change, externalId },
    }),
  );
  return { connected, stored };
}

/** The same batch must cancel the deployments of the project. */
export function beginDisconnecting({ db, actor }: ServiceContext, id: string, now: number) {
  return {
    forgotten: db.delete(projectConnections).where(eq(projectConnections.projectId, id)),
    disconnecting: db
      .update(projects)
      .set({
        connectionStatus: "disconnecting",
        disconnectedAt: now,
        disconnectedBy: actor.membershipId,
        updatedAt: now,
        version: nextVersion(projects.version),
      })
      .where(and(within(actor.organizationId, id), isDeployable())),
  };
}

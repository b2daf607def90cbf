import { and, desc, eq, getTableColumns, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { LIMITS } from "../../../lib/limits.ts";
import { isRoleOf, MEMBER_ROLE, projectMembers } from "../../project-members/table.ts";
import { deliveries, deliveryAttempts } from "../outbox/table.ts";
import { integrations } from "./table.ts";

/** An integration as it may be shown: without what is sealed. */
export type IntegrationRow = Omit<
  typeof integrations.$inferSelect,
  "url" | "secret" | "previousSecret"
>;
/** An integration to come, its URL and its secret sealed. */
export type NewIntegration = Pick<
  typeof integrations.$inferSelect,
  | "id"
  | "organizationId"
  | "projectId"
  | "type"
  | "configuration"
  | "url"
  | "shownUrl"
  | "secret"
  | "linksTo"
  | "createdAt"
>;

/** An integration, by its project. */
export interface Reference {
  organizationId: string;
  projectId: string;
  id: string;
}

/** Each event writes a delivery for every integration of its project. */
export const MAXIMUM_INTEGRATIONS = LIMITS.integrationsPerProject.value;

const { url: _, secret: __, previousSecret: ___, ...PUBLIC } = getTableColumns(integrations);

const within = ({ organizationId, projectId, id }: Reference) =>
  and(
    eq(integrations.organizationId, organizationId),
    eq(integrations.projectId, projectId),
    eq(integrations.id, id),
  );

/** An integration of a project of the actor's organization, with the actor's role in it. */
export function findIntegration(db: Database, actor: Actor, projectId: string, id: string) {
  return db
    .select({ ...PUBLIC, memberRole: MEMBER_ROLE })
    .from(integrations)
    .leftJoin(projectMembers, isRoleOf(actor, integrations.projectId))
    .where(within({ organizationId: actor.organizationId, projectId, id }));
}

/** All of a project, the newest first. */
export function listIntegrations(db: Database, organizationId: string, projectId: string) {
  return db
    .select(PUBLIC)
    .from(integrations)
    .where(
      and(eq(integrations.organizationId, organizationId), eq(integrations.projectId, projectId)),
    )
    .orderBy(desc(integrations.createdAt), desc(integrations.id));
}

/**
 * Inserts an integration, unless the project has the maximum, or `unless` holds. Its links lead to
 * `linksTo`, the origin of this service, if it sends messages to people.
 */
export function insertIntegration(db: Database, integration: NewIntegration, unless?: SQL) {
  const { projectId, createdAt } = integration;
  return insertFrom(
    db,
    integrations,
    {
      ...integration,
      previousSecret: null,
      previousSecretUntil: null,
      disabledAt: null,
      disabledReason: null,
      failingSince: null,
      pausedUntil: null,
      lastSentAt: null,
      updatedAt: createdAt,
    },
    sql`where not ${unless ?? sql`false`} and (select count(*) from integrations
      where integrations.project_id = ${projectId}) < ${MAXIMUM_INTEGRATIONS}`,
  ).returning(PUBLIC);
}

/** How many bytes more a URL of this size takes than the one that is stored. */
export function bytesOverUrl(reference: Reference, bytes: number): SQL {
  return sql`(select ${bytes} - octet_length(stored.url) - octet_length(stored.shown_url)
    from ${integrations} as stored where stored.id = ${reference.id})`;
}

/**
 * Sets the flags that are sent, and the URL if one is. One that was disabled is enabled; it starts
 * afresh, and so does one that gets another URL.
 */
export function updateIntegration(
  db: Database,
  reference: Reference,
  change: { flags: string; target: { url: string; shownUrl: string } | undefined; now: number },
) {
  const { flags, target, now } = change;
  const unlessFresh = (column: string) =>
    target ? null : sql`case when disabled_at is null then ${sql.raw(column)} end`;
  return db
    .update(integrations)
    .set({
      ...target,
      configuration: sql`json_patch(configuration, ${flags})`,
      failingSince: unlessFresh("failing_since"),
      pausedUntil: unlessFresh("paused_until"),
      disabledAt: null,
      disabledReason: null,
      updatedAt: now,
    })
    .where(within(reference))
    .returning(PUBLIC);
}

/** Puts a new secret in the place of the one that is there, which stays valid until a given time. */
export function rotateSecret(
  db: Database,
  reference: Reference,
  change: { secret: string; previousSecretUntil: number; updatedAt: number },
) {
  return db
    .update(integrations)
    .set({ ...change, previousSecret: sql`secret` })
    .where(within(reference))
    .returning(PUBLIC);
}

/** Deletes an integration with its deliveries. */
export function deleteIntegration(db: Database, reference: Reference) {
  const { organizationId, id } = reference;
  const own = and(eq(deliveries.organizationId, organizationId), eq(deliveries.integrationId, id));
  const sent = db.select({ id: deliveries.id }).from(deliveries).where(own);
  return {
    attempts: db.delete(deliveryAttempts).where(sql`${deliveryAttempts.deliveryId} in ${sent}`),
    deliveries: db.delete(deliveries).where(own),
    deleted: db.delete(integrations).where(within(reference)).returning({ id: integrations.id }),
  };
}

import { and, desc, eq, getTableColumns, lte, type SQL, sql } from "drizzle-orm";
import type { Actor, SystemContext } from "../../../context.ts";
import type { Database } from "../../../db/client.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../project-members/table.ts";
import { markForPurge } from "../../purge/index.ts";
import type { FailureReason } from "../outbox/model.ts";
import { deliveries } from "../outbox/table.ts";
import { MAXIMUM_INTEGRATIONS, type Reference } from "./model.ts";
import { INTEGRATION_TOMBSTONE, integrations } from "./table.ts";

export type IntegrationRow = Omit<
  typeof integrations.$inferSelect,
  "url" | "secret" | "previousSecret"
>;
export type NewIntegration = Pick<
  typeof integrations.$inferSelect,
  | "id"
  | "organizationId"
  | "projectId"
  | "type"
  | "configuration"
  | "url"
  | "maskedUrl"
  | "secret"
  | "linksTo"
  | "slackChannel"
  | "confirmBy"
  | "createdAt"
>;

const { url: _, secret: __, previousSecret: ___, ...PUBLIC } = getTableColumns(integrations);

const within = ({ organizationId, projectId, id }: Reference) =>
  and(
    eq(integrations.organizationId, organizationId),
    eq(integrations.projectId, projectId),
    eq(integrations.id, id),
  );

export function findIntegration(db: Database, actor: Actor, projectId: string, id: string) {
  return db
    .select({ ...PUBLIC, environmentId: NO_ENVIRONMENT, memberRole: MEMBER_ROLE })
    .from(integrations)
    .leftJoin(projectMembers, isRoleOf(actor, integrations.projectId))
    .where(within({ organizationId: actor.organizationId, projectId, id }));
}

export function listIntegrations(db: Database, organizationId: string, projectId: string) {
  return db
    .select(PUBLIC)
    .from(integrations)
    .where(
      and(eq(integrations.organizationId, organizationId), eq(integrations.projectId, projectId)),
    )
    .orderBy(desc(integrations.createdAt), desc(integrations.id));
}

/** Inserts nothing if the project has the maximum, or if `unless` is true. */
export function insertIntegration(db: Database, integration: NewIntegration, unless?: SQL) {
  const { organizationId, projectId, createdAt } = integration;
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
      failureNotifiedAt: null,
      pauseNotifiedAt: null,
      environmentIds: null,
      stackIds: null,
      lastSentAt: null,
      confirmedAt: null,
      updatedAt: createdAt,
    },
    sql`where not ${unless ?? sql`false`} and (select count(*) from integrations
      where integrations.project_id = ${projectId}
        and integrations.organization_id = ${organizationId}) < ${MAXIMUM_INTEGRATIONS}`,
  ).returning(PUBLIC);
}

export function addedUrlBytes(reference: Reference, bytes: number): SQL {
  return sql`(select ${bytes} - octet_length(integrations.url) - octet_length(integrations.shown_url)
    from integrations where integrations.id = ${reference.id})`;
}

/**
 * Enables the integration. One that was disabled, or gets another URL, is neither failing nor
 * paused any more.
 */
export function updateIntegration(
  db: Database,
  reference: Reference,
  change: { flags: string; target: { url: string; maskedUrl: string } | undefined; now: number },
) {
  const { flags, target, now } = change;
  const keepUnlessReset = (column: string) =>
    target ? null : sql`case when disabled_at is null then ${sql.raw(column)} end`;
  return db
    .update(integrations)
    .set({
      ...target,
      configuration: sql`json_patch(configuration, ${flags})`,
      failingSince: keepUnlessReset("failing_since"),
      pausedUntil: keepUnlessReset("paused_until"),
      disabledAt: null,
      disabledReason: null,
      updatedAt: now,
    })
    .where(within(reference))
    .returning(PUBLIC);
}

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

/**
 * Changes nothing if the installation is confirmed or has lapsed. Earlier deliveries, which only a
 * version without confirmations writes, fail instead of being sent now.
 */
export function confirmIntegration(db: Database, reference: Reference, now: number) {
  const isWaiting = sql`type = 'slack' and confirmed_at is null
    and (confirm_by is null or confirm_by > ${now})`;
  const unconfirmed: FailureReason = "integration_unconfirmed";
  return {
    earlier: db
      .update(deliveries)
      .set({
        status: "failed",
        failureReason: unconfirmed,
        claimedUntil: null,
        updatedAt: now,
        finishedAt: now,
      })
      .where(
        sql`${deliveries.status} = 'pending' and ${deliveries.integrationId} in
          (select id from integrations where ${within(reference)} and ${isWaiting})`,
      ),
    confirmed: db
      .update(integrations)
      .set({ confirmedAt: now, confirmBy: null, updatedAt: now })
      .where(and(within(reference), isWaiting))
      .returning(PUBLIC),
  };
}

export function listLapsed(db: Database, now: number, limit: number) {
  return db
    .select(PUBLIC)
    .from(integrations)
    .where(lte(integrations.confirmBy, now))
    .orderBy(integrations.confirmBy)
    .limit(limit);
}

/** Deletes nothing if the installation has been confirmed in the meantime. */
export function deleteLapsed(ctx: SystemContext, { id, confirmBy }: IntegrationRow) {
  const isUnconfirmed = sql`exists (select 1 from integrations
    where integrations.id = ${id} and integrations.confirm_by = ${confirmBy})`;
  return deleteIf(ctx, id, isUnconfirmed);
}

export function deleteIntegration(ctx: SystemContext, reference: Reference) {
  const exists = sql`exists (select 1 from integrations where ${within(reference)})`;
  return deleteIf(ctx, reference.id, exists);
}

function deleteIf(ctx: SystemContext, id: string, condition: SQL) {
  const { db, ownership } = ctx;
  const where = and(eq(integrations.id, id), condition);
  return {
    purge: markForPurge(ctx, "integration", integrations, where),
    records: ownership.deletionOf(db, integrations, id, condition),
    deleted: db
      .update(integrations)
      .set(INTEGRATION_TOMBSTONE)
      .where(where)
      .returning({ id: integrations.id }),
  };
}

import { and, desc, eq, getTableColumns, gt, lte, type SQL, sql } from "drizzle-orm";
import type { Actor } from "../../../actor.ts";
import type { ServiceContext, SystemContext } from "../../../context.ts";
import { observe } from "../../../db/batch.ts";
import type { Database } from "../../../db/client.ts";
import { hasExpectedVersion, nextVersion } from "../../../db/expected-version.ts";
import { insertFrom } from "../../../db/insert-from.ts";
import { isInLivePlace } from "../../../db/tombstone.ts";
import {
  INTEGRATION_TOMBSTONE,
  IS_CONFIRMED,
  integrations,
} from "../../housekeeping/outbox/integration-table.ts";
import { deliveries, deliveryAttempts } from "../../housekeeping/outbox/table.ts";
import { markForPurge } from "../../housekeeping/purge/index.ts";
import { environments } from "../../tenancy/environment-table.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";
import { stacks } from "../../tenancy/stack-table.ts";
import { type Filters, MAXIMUM_INTEGRATIONS, type Reference } from "./model.ts";

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
  | "environmentIds"
  | "stackIds"
  | "secret"
  | "linksTo"
  | "slackChannel"
  | "confirmBy"
  | "createdAt"
>;

const { url: _, secret: __, previousSecret: ___, ...COLUMNS } = getTableColumns(integrations);

const NEXT_VERSION = nextVersion(integrations.version);

/** Leaves out deleted resources: the stored list keeps them, so that it never means all. */
const PUBLIC = {
  ...COLUMNS,
  environmentIds: sql<string | null>`iif(integrations.environment_ids is null, null,
    (select json_group_array(wanted.value)
      from json_each(integrations.environment_ids) as wanted
      cross join environments on environments.id = wanted.value
        and environments.organization_id = integrations.organization_id))`.as("environment_ids"),
  stackIds: sql<string | null>`iif(integrations.stack_ids is null, null,
    (select json_group_array(wanted.value)
      from json_each(integrations.stack_ids) as wanted
      cross join stacks on stacks.id = wanted.value
        and stacks.organization_id = integrations.organization_id
        and ${isInLivePlace(stacks)}))`.as("stack_ids"),
};

/** JSON, for a column. */
export function toJson(ids: readonly string[] | null): string | null {
  return ids && JSON.stringify(ids);
}

function areKnown(
  { organizationId, projectId }: Omit<Reference, "id">,
  table: typeof environments | typeof stacks,
  ids: readonly string[] | null = null,
): SQL {
  return sql`not exists (select 1 from json_each(${toJson(ids)}) as item
    left join ${table} on ${table.id} = item.value and ${table.projectId} = ${projectId}
      and ${table.organizationId} = ${organizationId} and ${isInLivePlace(table)}
    where ${table.id} is null)`;
}

/** Whether the filters list only resources of the project. */
function areFiltersKnown(reference: Omit<Reference, "id">, filters: Filters): SQL {
  const { environmentIds, stackIds } = filters;
  return sql`(${areKnown(reference, environments, environmentIds)}
    and ${areKnown(reference, stacks, stackIds)})`;
}

/** What the filters list, but the project has not. */
export function findUnknown(db: Database, reference: Reference, filters: Filters) {
  const { environmentIds, stackIds } = filters;
  return db.get<{ kind: "environments" | "stacks" } | undefined>(
    sql`select 'environments' as kind where not ${areKnown(reference, environments, environmentIds)}
      union all select 'stacks' where not ${areKnown(reference, stacks, stackIds)} limit 1`,
  );
}

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

/** As a statement that writes returns it. */
export function selectIntegration(db: Database, reference: Reference) {
  return db.select(PUBLIC).from(integrations).where(within(reference));
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

/**
 * Inserts nothing if the project has the maximum, if a filter lists a resource that the project has
 * not, or if `unless` is true.
 */
export function insertIntegration(
  db: Database,
  integration: NewIntegration,
  { filters, unless = sql`false` }: { filters?: Filters; unless?: SQL },
) {
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
      lastSentAt: null,
      confirmedAt: null,
      updatedAt: createdAt,
      version: 1,
    },
    sql`where not ${unless} and ${filters ? areFiltersKnown(integration, filters) : sql`true`}
      and (select count(*) from integrations
      where integrations.project_id = ${projectId}
        and integrations.organization_id = ${organizationId}) < ${MAXIMUM_INTEGRATIONS}`,
  ).returning(PUBLIC);
}

export function addedUrlBytes(reference: Reference, bytes: number): SQL {
  return sql`(select ${bytes} - octet_length(integrations.url) - octet_length(integrations.shown_url)
    from integrations where integrations.id = ${reference.id})`;
}

/**
 * Changes nothing if a filter lists a resource that the project has not, or if the request expects another
 * version.
 * Enables the integration. One that was disabled, or gets another URL, is neither failing nor
 * paused any more.
 */
export function updateIntegration(
  ctx: ServiceContext,
  reference: Reference,
  change: {
    flags: string;
    target: { url: string; maskedUrl: string } | undefined;
    filters: Filters;
    now: number;
  },
) {
  const { flags, target, filters, now } = change;
  const { environmentIds, stackIds } = filters;
  const keepUnlessReset = (column: string) =>
    target ? null : sql`case when disabled_at is null then ${sql.raw(column)} end`;
  return ctx.db
    .update(integrations)
    .set({
      ...target,
      configuration: sql`json_patch(configuration, ${flags})`,
      ...(environmentIds !== undefined && { environmentIds: toJson(environmentIds) }),
      ...(stackIds !== undefined && { stackIds: toJson(stackIds) }),
      failingSince: keepUnlessReset("failing_since"),
      pausedUntil: keepUnlessReset("paused_until"),
      disabledAt: null,
      disabledReason: null,
      updatedAt: now,
      version: NEXT_VERSION,
    })
    .where(
      and(
        within(reference),
        hasExpectedVersion(ctx, integrations.version),
        areFiltersKnown(reference, filters),
      ),
    )
    .returning(PUBLIC);
}

export function rotateSecret(
  db: Database,
  reference: Reference,
  change: { secret: string; previousSecretUntil: number; updatedAt: number },
) {
  return db
    .update(integrations)
    .set({ ...change, previousSecret: sql`secret`, version: NEXT_VERSION })
    .where(within(reference))
    .returning(PUBLIC);
}

/** Changes nothing if the installation is confirmed or has lapsed. */
export function confirmIntegration(db: Database, reference: Reference, now: number) {
  return db
    .update(integrations)
    .set({ confirmedAt: now, confirmBy: null, updatedAt: now, version: NEXT_VERSION })
    .where(and(within(reference), gt(integrations.confirmBy, now)))
    .returning(PUBLIC);
}

/** Of one statement, so that none takes long. */
export const RESUMED_AT_ONCE = 1_000;
/** A delivery that was claimed longer ago is not being sent any more. */
const MAXIMUM_CLAIM_MS = 60_000;

const isResumable = (reference: Reference) =>
  and(within(reference), sql`integrations.disabled_at is null`, IS_CONFIRMED);

/** A row if more retries wait for a later time than one statement makes due. */
export function findManyRetries(db: Database, { organizationId, id }: Reference, now: number) {
  return db
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      sql`${deliveries.organizationId} = ${organizationId} and ${deliveries.integrationId} = ${id}
        and ${deliveries.status} = 'pending' and ${deliveries.dueAt} > ${now}`,
    )
    .limit(1)
    .offset(RESUMED_AT_ONCE);
}

/** Makes retries due that wait for a later time, the first ones first. */
export function advanceRetries(db: Database, reference: Reference, now: number) {
  const { organizationId, id } = reference;
  // `attempts` counts claims. A claimed delivery has no recorded delivery attempt with this number.
  const isBeingSent = sql`(waiting.attempts > 0 and waiting.updated_at > ${now - MAXIMUM_CLAIM_MS}
    and not exists (select 1 from ${deliveryAttempts}
      where delivery_attempts.delivery_id = waiting.id
        and delivery_attempts.number = waiting.attempts))`;
  return db
    .update(deliveries)
    .set({ dueAt: now })
    .where(
      sql`${deliveries.id} in (select waiting.id from deliveries as waiting
        where waiting.organization_id = ${organizationId} and waiting.integration_id = ${id}
          and waiting.status = 'pending' and waiting.due_at > ${now} and not ${isBeingSent}
          and exists (select 1 from integrations where ${isResumable(reference)})
        order by waiting.due_at limit ${RESUMED_AT_ONCE})`,
    )
    .returning({ id: deliveries.id });
}

/** Changes nothing if the integration is disabled or unconfirmed. */
export function resumeIntegration(
  { db, enqueue }: SystemContext,
  reference: Reference,
  now: number,
) {
  const { organizationId, id } = reference;
  return {
    retries: advanceRetries(db, reference, now),
    resumed: db
      .update(integrations)
      .set({ pausedUntil: null, updatedAt: now, version: NEXT_VERSION })
      .where(isResumable(reference))
      .returning(PUBLIC),
    due: observe(
      db
        .select({ deliveryId: sql<string>`${deliveries.id}`.as("delivery_id") })
        .from(deliveries)
        .where(
          sql`${deliveries.organizationId} = ${organizationId} and ${deliveries.integrationId} = ${id}
          and ${deliveries.status} = 'pending' and ${deliveries.dueAt} <= ${now}`,
        )
        .limit(1),
      enqueue,
    ),
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

/** Deletes nothing if the request expects another version. */
export function deleteIntegration(ctx: ServiceContext, reference: Reference) {
  const isExpected = hasExpectedVersion(ctx, integrations.version);
  const exists = sql`exists (select 1 from integrations where ${and(within(reference), isExpected)})`;
  return deleteIf(ctx, reference.id, exists);
}

function deleteIf(ctx: SystemContext, id: string, condition: SQL) {
  const { db, ownership } = ctx;
  const where = and(eq(integrations.id, id), condition);
  return {
    purge: markForPurge(ctx, "integration", integrations, where),
    owned: ownership.deletionOf(db, integrations, id, condition),
    deleted: db
      .update(integrations)
      .set(INTEGRATION_TOMBSTONE)
      .where(where)
      .returning({ id: integrations.id }),
  };
}

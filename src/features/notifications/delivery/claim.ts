import { eq, sql } from "drizzle-orm";
import type { Database } from "../../../db/client.ts";
import { LIMITS } from "../../../lib/limits.ts";
import type { EventType } from "../../housekeeping/outbox/events.ts";
import { integrations } from "../../housekeeping/outbox/integration-table.ts";
import type {
  DeliveryStatus,
  FailureReason,
  IntegrationType,
} from "../../housekeeping/outbox/model.ts";
import { deliveries } from "../../housekeeping/outbox/table.ts";
import { SLACK_INTERVAL_MS, selectTurns, type Turn } from "./turns.ts";

/** Bounds crash loops: a claim counts even if it ends without a recorded delivery attempt. */
const MAX_CLAIMS = LIMITS.deliveryClaims.value;
/** Longer than any delivery attempt takes. */
export const CLAIM_MS = 60_000;
const DATA = sql<string>`(select events.data from events where events.id = deliveries.event_id)`;
const CREATOR_NAME = sql`(select coalesce(
    (select trusts.name from trusts where trusts.id = item.value ->> 'trust_id'),
    (select accounts.display_name from memberships join accounts on accounts.id = memberships.account_id
      where memberships.id = item.value ->> 'membership_id' and item.value ->> 'trust_id' is null))
  from (select ${DATA} -> 'created_by' as value) as item)`;
const TOO_MANY: FailureReason = "too_many_attempts";

/** Of a claimed delivery. */
interface ClaimedIntegration {
  integrationType: IntegrationType;
  /** The project that the URL and the secrets were sealed for. */
  integrationProjectId: string;
  url: string;
  secret: string | null;
  previousSecret: string | null;
  previousSecretUntil: number | null;
  linksTo: string | null;
  /** Of a message for Slack: what who created the deployment is called now. */
  creatorName: string | null;
  failingSince: number | null;
  integrationUpdatedAt: number;
}

type ClaimRow = Awaited<ReturnType<typeof claimNext>>[number];

/** With its integration, as both are after the claim. */
export type ClaimedDelivery = Omit<ClaimRow, "integration" | "status" | "hasMore"> &
  ClaimedIntegration;

/**
 * Claims the deliveries whose turn it is: until the end of the claim, they are not due. Those that
 * cannot be delivered, and those that were claimed too often, fail.
 */
export function claimNext(db: Database, turn: Turn) {
  const { now } = turn;
  const reason = sql`coalesce(turn.undeliverable,
    case when deliveries.attempts >= ${MAX_CLAIMS} then ${TOO_MANY} end)`;
  return (
    db
      .update(deliveries)
      .set({
        status: sql`case when ${reason} is null then 'pending' else 'failed' end`,
        failureReason: reason,
        attempts: sql`deliveries.attempts + (${reason} is null)`,
        dueAt: now + CLAIM_MS,
        finishedAt: sql`case when ${reason} is not null then ${now} end`,
        updatedAt: now,
      })
      .from(sql`(${selectTurns(turn)}) as turn`)
      // Without the `+`, SQLite may index the turns, and scan all deliveries.
      .where(sql`${deliveries.id} = +turn.id`)
      .returning({
        id: deliveries.id,
        organizationId: deliveries.organizationId,
        projectId: deliveries.projectId,
        integrationId: deliveries.integrationId,
        eventId: deliveries.eventId,
        eventType: sql<EventType>`deliveries.type`,
        data: DATA,
        occurredAt: deliveries.occurredAt,
        status: sql<DeliveryStatus>`deliveries.status`,
        attempts: deliveries.attempts,
        earlierAttempts: sql<number>`(select count(*) from delivery_attempts
        where delivery_attempts.delivery_id = deliveries.id)`,
        /** JSON: a `ClaimedIntegration`. */
        integration: sql<string>`(select json_object('integrationType', integrations.type,
          'integrationProjectId', integrations.project_id, 'url', integrations.url,
          'secret', integrations.secret, 'previousSecret', integrations.previous_secret,
          'previousSecretUntil', integrations.previous_secret_until,
          'linksTo', integrations.links_to,
          'creatorName', iif(integrations.type = 'slack', ${CREATOR_NAME}, null), 'failingSince', integrations.failing_since,
          'integrationUpdatedAt', integrations.updated_at)
        from integrations where integrations.id = deliveries.integration_id)`,
        /** Right only in the last row of an integration: the others are read before it is updated. */
        hasMore: sql<number>`exists (select 1 from deliveries as more where more.status = 'pending'
        and more.organization_id = deliveries.organization_id
        and more.integration_id = deliveries.integration_id and more.due_at <= ${now})`,
      })
  );
}

/** Of deliveries that woke a consumer: Slack channels with more that is due, but throttled. */
export function findThrottled(db: Database, woken: readonly string[], now: number) {
  return db
    .select({
      id: deliveries.id,
      waitMs: sql<number>`integrations.last_sent_at + ${SLACK_INTERVAL_MS} - ${now}`.as("wait_ms"),
    })
    .from(deliveries)
    .innerJoin(integrations, eq(integrations.id, deliveries.integrationId))
    .where(
      sql`${deliveries.id} in (select value from json_each(${JSON.stringify(woken)}))
        and integrations.type = 'slack' and integrations.last_sent_at > ${now - SLACK_INTERVAL_MS}
        and exists (select 1 from deliveries as more where more.status = 'pending'
          and more.organization_id = deliveries.organization_id
          and more.integration_id = deliveries.integration_id and more.due_at <= ${now})`,
    );
}

/** `withMore`: by integration of which more deliveries are due, one of its deliveries. */
export function toClaimed(rows: readonly ClaimRow[], maximum: number) {
  const deliveries = rows
    .filter(({ status }) => status === "pending")
    .map(({ integration, status: _, hasMore: __, ...row }) => ({
      ...row,
      ...(JSON.parse(integration) as ClaimedIntegration),
    }));
  const lastRows = [...new Map(rows.map((row) => [row.integrationId, row])).values()];
  const withMore = new Map(
    lastRows.flatMap(({ integrationId, id, hasMore }) => (hasMore ? [[integrationId, id]] : [])),
  );
  const withoutMore = lastRows.flatMap(({ integrationId, hasMore }) =>
    hasMore ? [] : [integrationId],
  );
  return { deliveries, isFull: rows.length >= maximum, withMore, withoutMore };
}

export interface Released extends Pick<ClaimedDelivery, "id" | "attempts"> {
  dueAt: number;
}

/** Gives back what was claimed and not sent, unless it is claimed again. The claim does not count. */
export function release(db: Database, released: readonly Released[], now: number) {
  const items = released.map(({ id, attempts, dueAt }) => ({ id, attempts, dueAt }));
  return db
    .update(deliveries)
    .set({
      attempts: sql`${deliveries.attempts} - 1`,
      dueAt: sql`item.value ->> 'dueAt'`,
      updatedAt: now,
    })
    .from(sql`json_each(${JSON.stringify(items)}) as item`)
    .where(
      sql`${deliveries.id} = item.value ->> 'id' and ${deliveries.status} = 'pending'
        and ${deliveries.attempts} = item.value ->> 'attempts'`,
    );
}

import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Actor } from "../../../actor.ts";
import type { Database } from "../../../db/client.ts";
import { keyset, type PageRequest } from "../../../db/keyset.ts";
import { hasLiveOwner } from "../../../db/tombstone.ts";
import { unionBranches } from "../../../db/union-branches.ts";
import { integrations } from "../../housekeeping/outbox/integration-table.ts";
import type { DeliveryStatus } from "../../housekeeping/outbox/model.ts";
import { deliveries, deliveryAttempts, events } from "../../housekeeping/outbox/table.ts";
import {
  isRoleOf,
  MEMBER_ROLE,
  NO_ENVIRONMENT,
  projectMembers,
} from "../../tenancy/project-member-table.ts";

export type DeliveryRow = typeof deliveries.$inferSelect;
export type DeliveryRowInFull = DeliveryRow & { data: string };
export type AttemptRow = typeof deliveryAttempts.$inferSelect;

export interface DeliveryPage extends PageRequest {
  /** Empty for every status. */
  statuses: readonly DeliveryStatus[];
}

export interface DeliveryReference {
  projectId: string;
  integrationId: string;
  id: string;
}

const COLUMNS = getTableColumns(deliveries);

export function listDeliveries(
  db: Database,
  organizationId: string,
  integrationId: string,
  page: DeliveryPage,
) {
  const { where, orderBy, limit } = keyset(page, deliveries.createdAt, deliveries.id);
  const branch = (status: SQL | undefined) =>
    db
      .select(COLUMNS)
      .from(deliveries)
      .where(
        and(
          eq(deliveries.organizationId, organizationId),
          eq(deliveries.integrationId, integrationId),
          status,
          where,
        ),
      );
  const [first, ...others] = unionBranches(deliveries.status, page.statuses);
  const [second, ...rest] = others.map(branch);
  const union = second ? unionAll(branch(first), second, ...rest) : branch(first);
  return union.orderBy(...orderBy).limit(limit);
}

export function findDelivery(db: Database, actor: Actor, reference: DeliveryReference) {
  return db
    .select({
      ...COLUMNS,
      data: events.data,
      environmentId: NO_ENVIRONMENT,
      memberRole: MEMBER_ROLE,
    })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .leftJoin(projectMembers, isRoleOf(actor, deliveries.projectId))
    .where(
      and(
        eq(deliveries.organizationId, actor.organizationId),
        eq(deliveries.projectId, reference.projectId),
        eq(deliveries.integrationId, reference.integrationId),
        eq(deliveries.id, reference.id),
        hasLiveOwner(integrations, deliveries.integrationId),
      ),
    );
}

/** Without its payload. */
export function selectDelivery(db: Database, organizationId: string, id: string) {
  return db
    .select(COLUMNS)
    .from(deliveries)
    .where(and(eq(deliveries.organizationId, organizationId), eq(deliveries.id, id)));
}

export function listAttempts(db: Database, organizationId: string, deliveryId: string) {
  return db
    .select()
    .from(deliveryAttempts)
    .where(
      and(
        eq(deliveryAttempts.organizationId, organizationId),
        eq(deliveryAttempts.deliveryId, deliveryId),
      ),
    )
    .orderBy(deliveryAttempts.number);
}

import type { ServiceContext } from "../../../context.ts";
import { authorize } from "../../../context.ts";
import { commit } from "../../../db/batch.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import { Conflict } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { findIntegration, requireIntegration } from "../integrations/index.ts";
import { type NewDelivery, writeDelivery } from "../outbox/index.ts";
import type {
  AttemptRow,
  DeliveryPage,
  DeliveryRow,
  DeliveryRowInFull,
  Reference,
} from "./store.ts";
import * as store from "./store.ts";

/** The deliveries of an integration; takes a viewer. */
export async function listDeliveries(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
  page: DeliveryPage,
): Promise<Page<DeliveryRow>> {
  const { db, actor } = ctx;
  const [[integration], found] = await db.batch([
    findIntegration(db, actor, projectId, integrationId),
    store.listDeliveries(db, actor.organizationId, integrationId, page),
  ]);
  authorize(actor, "notification integration", integration, "viewer");
  return toPage(page, found, (row) => row);
}

/** One delivery with its payload and its attempts; takes a viewer. */
export async function getDelivery(
  ctx: ServiceContext,
  reference: Reference,
): Promise<{ delivery: DeliveryRowInFull; attempts: AttemptRow[] }> {
  const { db, actor } = ctx;
  const [[found], attempts] = await db.batch([
    store.findDelivery(db, actor, reference),
    store.listAttempts(db, actor.organizationId, reference.id),
  ]);
  return { delivery: authorize(actor, "delivery", found, "viewer"), attempts };
}

/**
 * Sends the event of a delivery again, as a delivery of its own; takes an owner. Throws `Conflict`
 * for an integration that is disabled.
 */
export async function redeliver(ctx: ServiceContext, reference: Reference): Promise<DeliveryRow> {
  const [found] = await store.findDelivery(ctx.db, ctx.actor, reference);
  const delivery = authorize(ctx.actor, "delivery", found, "owner");
  return deliver(ctx, { ...delivery, id: newId(ctx.clock) });
}

/**
 * Sends an event that tells of nothing, to see whether it arrives; takes an owner. Throws
 * `Conflict` for an integration that is disabled.
 */
export async function pingIntegration(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
): Promise<DeliveryRow> {
  const { organizationId } = await requireIntegration(ctx, projectId, integrationId, "owner");
  return deliver(ctx, {
    id: newId(ctx.clock),
    organizationId,
    integrationId,
    eventId: newId(ctx.clock),
    type: "ping",
    data: JSON.stringify({ integration_id: integrationId }),
    occurredAt: ctx.clock.now(),
  });
}

async function deliver(ctx: ServiceContext, delivery: NewDelivery): Promise<DeliveryRow> {
  const { written } = await commit(ctx, { written: writeDelivery(ctx, delivery) });
  const [row] = written;
  if (row) return row;
  throw new Conflict("The integration is disabled. Change it, by an empty PATCH, to enable it.");
}

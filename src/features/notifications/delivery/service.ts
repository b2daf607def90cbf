import type { ServiceContext } from "../../../context.ts";
import { authorize } from "../../../context.ts";
import { commit } from "../../../db/batch.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import { Conflict } from "../../../lib/errors.ts";
import {
  DISABLED,
  findIntegration,
  isConfirmed,
  requireIntegration,
  UNCONFIRMED,
} from "../integrations/index.ts";
import { writePing, writeRedelivery } from "../outbox/index.ts";
import type {
  AttemptRow,
  DeliveryPage,
  DeliveryReference,
  DeliveryRow,
  DeliveryRowInFull,
} from "./store.ts";
import * as store from "./store.ts";

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

export async function getDelivery(
  ctx: ServiceContext,
  reference: DeliveryReference,
): Promise<{ delivery: DeliveryRowInFull; attempts: AttemptRow[] }> {
  const { db, actor } = ctx;
  const [[found], attempts] = await db.batch([
    store.findDelivery(db, actor, reference),
    store.listAttempts(db, actor.organizationId, reference.id),
  ]);
  return { delivery: authorize(actor, "delivery", found, "viewer"), attempts };
}

/** Creates a new delivery, because a final status never changes. */
export async function redeliver(
  ctx: ServiceContext,
  reference: DeliveryReference,
): Promise<DeliveryRow> {
  const [found] = await store.findDelivery(ctx.db, ctx.actor, reference);
  const delivery = authorize(ctx.actor, "delivery", found, "owner");
  return createDelivery(ctx, reference, writeRedelivery(ctx, delivery));
}

export async function pingIntegration(
  ctx: ServiceContext,
  projectId: string,
  id: string,
): Promise<DeliveryRow> {
  const integration = await requireIntegration(ctx, projectId, id, "owner");
  return createDelivery(ctx, { projectId, integrationId: id }, writePing(ctx, integration));
}

async function createDelivery(
  ctx: ServiceContext,
  { projectId, integrationId }: { projectId: string; integrationId: string },
  statements: ReturnType<typeof writePing | typeof writeRedelivery>,
): Promise<DeliveryRow> {
  const { delivery } = await commit(ctx, statements);
  const [row] = delivery;
  if (row) return row;
  const integration = await requireIntegration(ctx, projectId, integrationId, "owner");
  throw new Conflict(isConfirmed(integration) ? DISABLED : UNCONFIRMED);
}

import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import { newId } from "../../../lib/ids.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { writePing, writeRedelivery } from "../../housekeeping/outbox/index.ts";
import {
  DISABLED,
  findIntegration,
  requireIntegration,
  requireReceiving,
} from "../integrations/index.ts";
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
  const { integrations, found } = await batch(db, {
    integrations: findIntegration(db, actor, projectId, integrationId),
    found: store.listDeliveries(db, actor.organizationId, integrationId, page),
  });
  authorize(actor, "notification integration", integrations[0], "viewer");
  return toPage(page, found, (row) => row);
}

export async function getDelivery(
  ctx: ServiceContext,
  reference: DeliveryReference,
): Promise<{ delivery: DeliveryRowInFull; attempts: AttemptRow[] }> {
  const { db, actor } = ctx;
  const { found, attempts } = await batch(db, {
    found: store.findDelivery(db, actor, reference),
    attempts: store.listAttempts(db, actor.organizationId, reference.id),
  });
  return { delivery: authorize(actor, "delivery", found[0], "viewer"), attempts };
}

/** Creates a new delivery, because a final status never changes. */
export async function redeliver(
  ctx: ServiceContext,
  reference: DeliveryReference,
): Promise<DeliveryRow> {
  const [found] = await store.findDelivery(ctx.db, ctx.actor, reference);
  const delivery = authorize(ctx.actor, "delivery", found, "owner");
  const id = newId(ctx.clock);
  return createDelivery(ctx, { ...reference, id }, writeRedelivery(ctx, id, delivery));
}

export async function pingIntegration(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
): Promise<DeliveryRow> {
  const integration = await requireIntegration(ctx, projectId, integrationId, "owner");
  const id = newId(ctx.clock);
  return createDelivery(ctx, { projectId, integrationId, id }, writePing(ctx, id, integration));
}

async function createDelivery(
  ctx: ServiceContext,
  { projectId, integrationId, id }: DeliveryReference,
  { delivery, event }: ReturnType<typeof writePing | typeof writeRedelivery>,
): Promise<DeliveryRow> {
  const { guarded } = await writeBatch(ctx, {
    guarded: delivery,
    entry: { row: store.selectDelivery(ctx.db, ctx.actor.organizationId, id) },
    effects: { event },
  });
  const [row] = guarded;
  if (row) return row;
  await requireReceiving(ctx, projectId, integrationId);
  throw DISABLED;
}

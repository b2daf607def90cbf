import type { ServiceContext } from "../../../context.ts";
import { authorize } from "../../../context.ts";
import { commit } from "../../../db/batch.ts";
import { type Page, toPage } from "../../../db/keyset.ts";
import { Conflict } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { findIntegration, isConfirmed, requireIntegration } from "../integrations/index.ts";
import { type NewDelivery, writeDelivery } from "../outbox/index.ts";
import type {
  AttemptRow,
  DeliveryPage,
  DeliveryReference,
  DeliveryRow,
  DeliveryRowInFull,
} from "./store.ts";
import * as store from "./store.ts";

const UNCONFIRMED =
  "The Slack installation is not confirmed. Check its channel, and send POST …/confirm.";
const DISABLED = "The integration is disabled. Send a PATCH, which may be empty, to enable it.";

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
  return createDelivery(ctx, reference.projectId, { ...delivery, id: newId(ctx.clock) });
}

export async function pingIntegration(
  ctx: ServiceContext,
  projectId: string,
  integrationId: string,
): Promise<DeliveryRow> {
  const { organizationId } = await requireIntegration(ctx, projectId, integrationId, "owner");
  return createDelivery(ctx, projectId, {
    id: newId(ctx.clock),
    organizationId,
    integrationId,
    eventId: newId(ctx.clock),
    type: "ping",
    data: JSON.stringify({ integration_id: integrationId }),
    occurredAt: ctx.clock.now(),
  });
}

async function createDelivery(
  ctx: ServiceContext,
  projectId: string,
  delivery: NewDelivery,
): Promise<DeliveryRow> {
  const { written } = await commit(ctx, { written: writeDelivery(ctx, delivery) });
  const [row] = written;
  if (row) return row;
  const integration = await requireIntegration(ctx, projectId, delivery.integrationId, "owner");
  throw new Conflict(isConfirmed(integration) ? DISABLED : UNCONFIRMED);
}

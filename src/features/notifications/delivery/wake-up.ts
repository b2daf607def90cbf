import { LIMITS } from "../../../lib/limits.ts";

/**
 * Wakes a consumer, which sends what is due. The database decides what that is: the delivery only
 * tells whose turn is first.
 */
export interface DeliveryMessage {
  delivery_id: string;
}

/** The most messages of one `sendBatch` (Cloudflare Queues, limits). */
const SEND_BATCH = 100;
/** The longest delay of a message (Cloudflare Queues, limits). */
const MAX_DELAY_SECONDS = 43_200;

/** One consumer for as many deliveries as it sends at once. */
export async function wakeConsumers(
  queue: Queue<DeliveryMessage>,
  deliveryIds: readonly string[],
): Promise<void> {
  const slots = LIMITS.deliveryConnections.value;
  const first = deliveryIds.filter((_, at) => at % slots === 0);
  await sendMessages(
    queue,
    first.map((delivery_id) => ({ body: { delivery_id } })),
  );
}

export interface WakeUp {
  deliveryId: string;
  delayMs: number;
}

/** One message for each second in which something is due. */
export async function scheduleWakeUps(
  queue: Queue<DeliveryMessage>,
  wakeUps: readonly WakeUp[],
): Promise<void> {
  const bySecond = new Map(
    wakeUps.map(({ deliveryId, delayMs }) => [toSeconds(delayMs), deliveryId]),
  );
  await sendMessages(
    queue,
    [...bySecond].map(([delaySeconds, delivery_id]) => ({ body: { delivery_id }, delaySeconds })),
  );
}

function toSeconds(delayMs: number): number {
  return Math.min(Math.max(Math.ceil(delayMs / 1_000), 0), MAX_DELAY_SECONDS);
}

async function sendMessages(
  queue: Queue<DeliveryMessage>,
  messages: readonly MessageSendRequest<DeliveryMessage>[],
): Promise<void> {
  for (let at = 0; at < messages.length; at += SEND_BATCH) {
    await queue.sendBatch(messages.slice(at, at + SEND_BATCH));
  }
}
